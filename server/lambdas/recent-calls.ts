import type { Uuid } from '../model/ids.ts';
import type { LambdaCall } from '../model/invocation.ts';
import type { LambdaDefinition } from './lambda-definition.ts';

/** What caused a call that a lambda made to somebody else. */
export interface CallSender {
  lambdaId: Uuid;
  lambdaName: string;
  /** The event that the lambda was called with; absent when it is long or no text. */
  event?: string;
  /** Its CRM_OID, if it has one. */
  crmOid?: string;
}

/** With their events some 13 MB at most. */
const KEPT_CALLS = 200;
const LONGEST_EVENT_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/** The newest calls of lambdas by their execution ids, for whoever is told only the id: a stand-in that a lambda speaks to. */
export class RecentCalls {
  /**
   * Each takes the place of the one that came KEPT_CALLS before it. Lists instead of an object for each call: V8 soon made those where
   * only a collection of the whole heap finds them, with their bodies.
   */
  readonly #ids: Uuid[] = [];
  readonly #bodies: Uint8Array[] = [];
  readonly #definitions: LambdaDefinition[] = [];
  #next = 0;

  add({ executionId, body }: LambdaCall, definition: LambdaDefinition): void {
    const isLong = body.length > LONGEST_EVENT_BYTES;
    this.#ids[this.#next] = executionId;
    this.#bodies[this.#next] = isLong ? NOTHING : body;
    this.#definitions[this.#next] = definition;
    this.#next = (this.#next + 1) % KEPT_CALLS;
  }

  find(executionId: Uuid): CallSender | undefined {
    const at = this.#ids.indexOf(executionId);
    const [body, definition] = [this.#bodies[at], this.#definitions[at]];
    if (!body || !definition) return undefined;
    const event = textIn(body);
    const crmOid = definition.env.CRM_OID;
    return {
      lambdaId: definition.id,
      lambdaName: definition.name,
      ...(event !== undefined && { event }),
      ...(crmOid !== undefined && { crmOid }),
    };
  }
}

function textIn(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
