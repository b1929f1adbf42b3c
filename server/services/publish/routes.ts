import type { Request, Router } from 'express';
import type { z } from 'zod';
import { type PublishingCheck, publishingRoutes } from '../../api/routes/publishing.ts';
import type { BodyOf } from '../../api/routes/route.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { COMMIT_HEADER } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import { memberOf } from '../../model/json.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { StoredResource } from '../../model/record.ts';
import { currentPathOf } from '../../model/resource-path.ts';
import { fqonOf, owningOrganization } from '../../model/rules/hierarchy.ts';
import { unsetVariables } from '../../model/unset-variables.ts';
import { digestOf } from './exportable-resource.ts';
import { applySteps, type PlannedStep, planSteps, type SyncBaseline } from './plan.ts';
import { Platform } from './platform.ts';
import { parseEnvironmentPath, readSnapshot, selected, snapshotOf } from './target-snapshot.ts';

export interface SyncRecord {
  digest: string;
}

export interface PublishingOptions {
  /** Digests of the last synchronization, by `digestOf` of address, path, local environment and step. */
  syncBaseline: KeyedLog<SyncRecord>;
  calls: Calls;
  /** The address at which this machine reaches the platform, and the platform's hosts with their ports. */
  ownAddresses(): { metaUrl: string; hosts: readonly string[] };
  linkLocalHosts: readonly string[];
}

type PublishingRequest = BodyOf<typeof publishingRoutes.planPublishing>;

/** Copies lambdas between platforms, by the API of both with the caller's credentials, so that each checks the permissions. */
export function publishingRouter(options: PublishingOptions, guard: RouteGuard): Router {
  return mountRoutes(publishingRoutes, guard, {
    planPublishing: async ({ resource, body, req }) => (await prepare(options, guard, resource, body, req)).plan,
    async applyPublishing({ resource, body: { seen, overwrite = [], ...request }, req, res }) {
      const { plan, steps, localPlatform, sides, syncBaseline } = await prepare(options, guard, resource, request, req);
      if (plan.seen !== seen)
        throw new PlatformError(
          'changed_meanwhile',
          'a resource has changed since the plan was made. Review the new plan.',
        );
      const unseen = plan.steps.filter(({ id, conflict }) => conflict !== undefined && !overwrite.includes(id));
      if (unseen.length > 0) {
        const sentences = unseen.map(({ id, conflict }) => `${id}: ${conflict}`);
        throw new PlatformError(
          'publish_conflict',
          `nothing was copied, because of conflicts. ${sentences.join('; ')}`,
        );
      }
      const missing = plan.steps.flatMap((step) =>
        step.missing === undefined ? [] : [`${step.id} needs ${step.missing}`],
      );
      if (missing.length > 0) throw new PlatformError('publish_conflict', `nothing was copied. ${missing.join('; ')}`);
      const applied = await applySteps(sides, steps, syncBaseline);
      for (const commit of localPlatform.commits) res.append(COMMIT_HEADER, commit);
      return applied;
    },
  });
}

async function prepare(
  { syncBaseline: log, calls, ownAddresses, linkLocalHosts }: PublishingOptions,
  { view }: RouteGuard,
  environment: StoredResource,
  request: z.output<z.ZodType<PublishingRequest>>,
  req: Request,
) {
  const location = parseEnvironmentPath(request.path);
  const { metaUrl, hosts } = ownAddresses();
  const localPlatform = new Platform(metaUrl, req.headers.authorization ?? '', 'all');
  const remotePlatform = await Platform.signIn(request.metaUrl, request.credentials, location.fqon, linkLocalHosts);
  const path = currentPathOf(view, environment);
  const isPush = request.direction === 'push';
  const snapshots = {
    here: await snapshotOf(localPlatform, fqonOf(view, owningOrganization(view, environment)), environment.id, path),
    there: await readSnapshot(remotePlatform, location),
  };
  const [from, to] = isPush ? [snapshots.here, snapshots.there] : [snapshots.there, snapshots.here];
  const sides = { source: selected(from, location.selection), destination: to };
  const route = [remotePlatform.metaUrl, location.fqon, location.workspace, location.environment, environment.id];
  const syncBaseline: SyncBaseline = {
    last: (step) => log.get(digestOf([...route, step]))?.digest,
    recordSync: (step, digest) => log.put(digestOf([...route, step]), { digest }),
  };
  const { steps, ignoredParts } = await planSteps(sides, syncBaseline);
  const reported = {
    from: from.title,
    to: to.title,
    steps: steps.map((step) => step.reported),
    left: ignoredParts,
    checks: isPush ? checksBeforePush(steps, { calls, ownHosts: hosts, variablesThere: to.variables }) : [],
  };
  // The digest excludes the checks, because invocations meanwhile change them.
  const { checks: _, ...planned } = reported;
  return { plan: { ...reported, seen: digestOf(planned) }, steps, localPlatform, sides, syncBaseline };
}

const LOCAL = /\blocalhost\b|\b127(?:\.\d{1,3}){3}\b|\[::1\]|\b0\.0\.0\.0\b|\bhost\.docker\.internal\b/i;

export interface Calls {
  /** @param sinceMs epoch milliseconds */
  since(lambdaId: string, sinceMs: number): { calls: number; failed: number };
}

interface ChecksOptions {
  calls: Calls;
  ownHosts: readonly string[];
  variablesThere: readonly string[];
}

/** Checks of lambdas before a push, also of those that it does not change: tested, all variables set, no local addresses. */
function checksBeforePush(steps: readonly PlannedStep[], options: ChecksOptions): PublishingCheck[] {
  if (lambdasIn(steps).length === 0) return [];
  return [triedCheck(steps, options.calls), variablesCheck(steps, options), addressCheck(steps, options.ownHosts)];
}

function triedCheck(steps: readonly PlannedStep[], calls: Calls): PublishingCheck {
  const faults = lambdasIn(steps).flatMap(({ exportable: { name, record } }) => {
    const endpoints = steps.filter(({ exportable }) => exportable.record.properties.implementation_id === record.id);
    const changedMs = Math.max(...[record, ...endpoints.map(({ exportable }) => exportable.record)].map(changedAt));
    const counts = calls.since(record.id, changedMs);
    if (counts.calls === 0) return [`${name} was not invoked since its last change`];
    if (counts.failed === 0) return [];
    return [`${counts.failed} of ${counts.calls} invocations of ${name} failed since its last change`];
  });
  return reported('Tried since the last change', faults, 'all invocations since the last change succeeded');
}

function changedAt(record: object): number {
  const timestamp = memberOf(memberOf(record, 'modified'), 'timestamp');
  return (typeof timestamp === 'string' && Date.parse(timestamp)) || 0;
}

function variablesCheck(steps: readonly PlannedStep[], { variablesThere }: ChecksOptions): PublishingCheck {
  const faults = lambdasIn(steps).flatMap(({ exportable: { name, form } }) => {
    const { code, env } = form.properties;
    const setNames = typeof env === 'object' && env ? Object.keys(env) : [];
    if (typeof code !== 'string') return [`the code of ${name} is in a package, which was not searched for variables`];
    const unset = unsetVariables(code, form.properties, [...setNames, ...variablesThere]);
    return unset.length === 0 ? [] : [`${name} reads ${unset.join(', ')}, which are not set at the destination`];
  });
  return reported('Variables set', faults, 'all variables that the code reads are set at the destination');
}

function addressCheck(steps: readonly PlannedStep[], ownHosts: readonly string[]): PublishingCheck {
  const isLocal = (text: string) => LOCAL.test(text) || ownHosts.some((host) => text.includes(host));
  const faults = lambdasIn(steps).flatMap(({ exportable: { name, form } }) => {
    const { code, env, package_url: url } = form.properties;
    const lines = typeof code === 'string' ? code.split('\n') : [];
    const line = lines.findIndex(isLocal);
    const variables = Object.entries(typeof env === 'object' && env ? env : {});
    return [
      ...(line >= 0 ? [`line ${line + 1} of ${name} contains an address of this machine`] : []),
      ...variables.flatMap(([key, value]) =>
        isLocal(String(value)) ? [`${key} of ${name} contains an address of this machine`] : [],
      ),
      ...(typeof url === 'string' && (url.startsWith('file:') || isLocal(url))
        ? [`the package of ${name} is on this machine`]
        : []),
    ];
  });
  return reported('No local address', faults, 'neither code nor variables contain addresses of this machine');
}

function lambdasIn(steps: readonly PlannedStep[]): PlannedStep[] {
  return steps.filter(({ reported: { kind } }) => kind === 'lambda');
}

function reported(name: string, faults: readonly string[], good: string): PublishingCheck {
  return { name, isGood: faults.length === 0, sentence: faults.length === 0 ? good : faults.join('; ') };
}
