import type { LambdaSender } from '../../mocks/lambda-calls.ts';
import type { LambdaCall } from '../../model/invocation.ts';
import type { Uuid } from '../../model/record.ts';
import type { LambdaDefinition } from './lambda-definition.ts';

/** With their events some 13 MB at most. */
const KEPT_CALLS = 200;
const LONGEST_EVENT_BYTES = 64 * 1024;
const KEPT_CONNECTIONS = 1_000;
const NO_BYTES = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { fatal: true });

/** The newest calls of lambdas by their execution ids, for a mock service that a lambda calls and that receives only the id. */
export class RecentCalls {
  /** Rings of KEPT_CALLS. Lists instead of objects: V8 moved those soon to where only a full collection frees them, with their bodies. */
  readonly #ids: Uuid[] = [];
  readonly #bodies: Uint8Array[] = [];
  readonly #definitions: LambdaDefinition[] = [];
  readonly #originals: (Uuid | undefined)[] = [];
  readonly #connections = new Map<number, () => Uuid>();
  #next = 0;

  add({ executionId, body, replayOf }: LambdaCall, definition: LambdaDefinition): void {
    const isLong = body.length > LONGEST_EVENT_BYTES;
    this.#ids[this.#next] = executionId;
    this.#bodies[this.#next] = isLong ? NO_BYTES : body;
    this.#definitions[this.#next] = definition;
    this.#originals[this.#next] = replayOf;
    this.#next = (this.#next + 1) % KEPT_CALLS;
  }

  /** @param executionId returns the invocation that uses the connection at present */
  addConnection(localPort: number, executionId: () => Uuid): void {
    this.#connections.delete(localPort);
    this.#connections.set(localPort, executionId);
    for (const port of this.#connections.keys()) {
      if (this.#connections.size <= KEPT_CONNECTIONS) break;
      this.#connections.delete(port);
    }
  }

  executionOf(localPort: number): Uuid | undefined {
    return this.#connections.get(localPort)?.();
  }

  find(executionId: Uuid): LambdaSender | undefined {
    const at = this.#ids.indexOf(executionId);
    const [body, definition] = [this.#bodies[at], this.#definitions[at]];
    if (!body || !definition) return undefined;
    const event = textIn(body);
    const crmOid = definition.env.CRM_OID;
    const replayOf = this.#originals[at];
    return {
      lambdaId: definition.id,
      lambdaName: definition.name,
      ...(event !== undefined && { event }),
      ...(crmOid !== undefined && { crmOid }),
      ...(replayOf !== undefined && { replayOf }),
    };
  }
}

function textIn(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
