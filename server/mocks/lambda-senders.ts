import type { Uuid } from '../model/record.ts';
import { slot } from '../plugin/plugin.ts';

/** The lambda that sent something to a mock, and the invocation in which it did. */
export interface LambdaSender {
  lambdaId: Uuid;
  lambdaName: string;
  /** Absent when it is long or no text. */
  event?: string;
  /** The CRM_OID of the lambda. */
  crmOid?: string;
  replayOf?: Uuid;
}

/** Finds the lambda that ran this invocation. */
export const lambdaSenders = slot<(executionId: Uuid) => LambdaSender | undefined>('lambda senders');
