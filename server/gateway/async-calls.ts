import type { Uuid } from '../model/ids.ts';
import type { LambdaCall, LambdaInvoker } from '../model/invocation.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import type { AsyncResults } from './async-results.ts';
import { failureAnswer } from './lambda-answer.ts';

/** Accepts calls whose callers do not wait, and sees them through (section 12 of the decisions). */
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

  /**
   * Starts an invocation and answers with its id as soon as the acceptance is durable (D-164, D-168); a call that would be
   * refused is answered like a synchronous one, and one that cannot be saved has not run.
   */
  async accept(lambdaId: Uuid, call: LambdaCall): Promise<Answer> {
    const refusal = this.#invoker.refusal(lambdaId);
    if (refusal && !refusal.ok) return failureAnswer(refusal);
    const { executionId } = call;
    // Calls that come while the acceptance is written see its place in the queue taken.
    const letGo = this.#invoker.holdPlace(lambdaId);
    await this.#results.accept(executionId, lambdaId).finally(letGo);
    const running = this.#seeThrough(lambdaId, call);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    const answer = jsonAnswer(200, { lambdaId: executionId }, ['Location', `/results/${executionId}`]);
    return { ...answer, executionId };
  }

  /** Resolves when all that was accepted so far has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Never rejects. */
  async #seeThrough(lambdaId: Uuid, call: LambdaCall): Promise<void> {
    try {
      await this.#results.finish(call.executionId, await this.#invoker.invoke(lambdaId, call));
    } catch (fault) {
      this.#onFault(fault); // its caller was answered long ago
    }
  }
}
