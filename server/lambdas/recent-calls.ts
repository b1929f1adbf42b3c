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

/** The newest calls of lambdas by their execution ids, for whoever is told only the id: a stand-in that a lambda speaks to. */
export class RecentCalls {
  readonly #calls = new Map<Uuid, { body: Uint8Array; definition: LambdaDefinition }>();

  add({ executionId, body }: LambdaCall, definition: LambdaDefinition): void {
    const isLong = body.length > LONGEST_EVENT_BYTES;
    this.#calls.set(executionId, { body: isLong ? new Uint8Array() : body, definition });
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined && this.#calls.size > KEPT_CALLS) this.#calls.delete(oldest);
  }

  find(executionId: Uuid): CallSender | undefined {
    const known = this.#calls.get(executionId);
    if (!known) return undefined;
    const { body, definition } = known;
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
