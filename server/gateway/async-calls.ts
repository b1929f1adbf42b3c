import type { LambdaCall, LambdaInvoker } from '../model/invocation.ts';
import type { Uuid } from '../model/record.ts';
import type { AsyncResults } from './async-results.ts';
import { type Answer, jsonAnswer } from './exchange.ts';
import { failureAnswer } from './lambda-call.ts';

export class AsyncCalls {
  readonly #invoker: LambdaInvoker;
  readonly #results: AsyncResults;
  readonly #onFault: (fault: unknown) => void;
  readonly #running = new Set<Promise<void>>();

  constructor(invoker: LambdaInvoker, results: AsyncResults, onFault: (fault: unknown) => void) {
    this.#invoker = invoker;
    this.#results = results;
    this.#onFault = onFault;
  }

  /** Starts an invocation, and responds with its id when that is durable (D-164, D-168). What cannot be saved does not run. */
  async accept(lambdaId: Uuid, call: LambdaCall): Promise<Answer> {
    const refusal = this.#invoker.refusal(lambdaId);
    if (refusal && !refusal.ok) return failureAnswer(refusal);
    const { executionId } = call;
    // Reserve the place in the queue while the acceptance is written, so that concurrent calls count it.
    const letGo = this.#invoker.reserveSlot(lambdaId);
    await this.#results.accept(executionId, lambdaId).finally(letGo);
    const running = this.#runToEnd(lambdaId, call);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    const answer = jsonAnswer(200, { lambdaId: executionId }, ['Location', `/results/${executionId}`]);
    return { ...answer, executionId };
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #runToEnd(lambdaId: Uuid, call: LambdaCall): Promise<void> {
    try {
      await this.#results.finish(call.executionId, await this.#invoker.invoke(lambdaId, call));
    } catch (fault) {
      this.#onFault(fault); // its caller already got a response
    }
  }
}
