import type { MockName } from '../model/invocation.ts';
import type { Uuid } from '../model/record.ts';
import { slot } from '../plugin/plugin.ts';
import type { Lead } from './crm/lead.ts';

/** A mock that receives every connection to some ports, of any host but loopback, unless a rule decides otherwise. */
export interface PortRoute {
  ports: readonly number[];
  /** It is reached without TLS, also by clients that start with TLS; `caPem` is trusted by TLS that starts later (STARTTLS). */
  address: { host: string; port: number; caPem?: string };
  mock: MockName;
}

/** The lambda that sent something to a mock, and the invocation in which it did. */
export type LambdaSender = NonNullable<Lead['sender']>;

/** Returns the mocks that receive all connections of lambdas to some ports. */
export const portRoutes = slot<() => Promise<readonly PortRoute[]>>('port routes');
/** Finds the lambda that ran this invocation. */
export const lambdaSenders = slot<(executionId: Uuid) => LambdaSender | undefined>('lambda senders');
/** Finds the invocation that uses a connection to a mock, by the port from which it comes. */
export const connectionExecutions = slot<(remotePort: number) => Uuid | undefined>('executions of connections');
