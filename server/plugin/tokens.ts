import type { resetRoutes } from '../api/routes/history.ts';
import type { BodyOf } from '../api/routes/route.ts';
import type { Authenticator, Authorizer } from '../model/caller.ts';
import type { Change, Commit } from '../model/commit.ts';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import type { Invocation, LambdaCall, LambdaInvoker, StartedInvocation } from '../model/invocation.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import type { OutboundRulesRequest } from '../model/outbound-rules-request.ts';
import type { PipelineDeployment, PipelineRun } from '../model/pipeline-run.ts';
import type { StoredResource, Uuid } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { event, slot } from './plugin.ts';

/** The world has changed, and the change is on disk as far as the setting `fsync` asks for it. */
export const committed = event<{ commit: Commit; changes: readonly Change[] }>('committed');
/** A resource of that type has changed: once for each change of a commit, after `committed`. */
export const resourceChanged = (collection: TypeWord) => event<Change>(`${collection} changed`);
/** A request to the management API or the gateway has been answered. */
export const exchangeEnded = event<ExchangeRecord>('exchange ended');
/** An invocation was accepted, before it waits or runs. */
export const invocationStarted = event<StartedInvocation>('invocation started');
/** An invocation is over, or was refused. */
export const invocationEnded = event<{ invocation: Invocation; call: LambdaCall }>('invocation ended');
/** Other rules for outbound calls apply from now on. */
export const outboundRulesChanged = event<{ before: readonly OutboundRule[]; after: readonly OutboundRule[] }>(
  'outbound rules changed',
);

/** A reset has restored the world and the platform's other state. */
export const worldReset = event<undefined>('world reset');
/** The platform's clock has moved by a time, back if it is negative (D-222). */
export const clockMoved = event<{ byMs: number }>('clock moved');

export const deploymentRecorded = event<{ run: PipelineRun; deployment: PipelineDeployment }>('deployment recorded');

/** The rules for outbound calls. `replace` rejects with PlatformError 503 if they cannot be stored. */
export const outboundRules = slot<{
  list(): readonly OutboundRule[];
  replace(request: OutboundRulesRequest): Promise<unknown>;
}>('outbound rules');
/** Creates the world of a first start with a seed. Rejects with PlatformError if the seed cannot be used. */
export const freshWorlds =
  slot<(seed: BodyOf<typeof resetRoutes.resetWorld>['seed']) => Promise<ReadonlyMap<Uuid, StoredResource>>>(
    'fresh worlds',
  );
export const invokers = slot<LambdaInvoker>('lambda invoker');
export const authenticators = slot<Authenticator>('authenticator');
export const authorizers = slot<Authorizer>('authorizer');
