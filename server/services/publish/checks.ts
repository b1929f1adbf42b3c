import type { PublishingCheck } from '../../api/routes/publishing.ts';
import { memberOf } from '../../model/json.ts';
import { unsetVariables } from '../../model/read-variables.ts';
import type { PlannedStep } from './plan.ts';

const LOCAL = /\blocalhost\b|\b127(?:\.\d{1,3}){3}\b|\[::1\]|\b0\.0\.0\.0\b|\bhost\.docker\.internal\b/i;

export interface Calls {
  /** @param sinceMs epoch milliseconds */
  since(lambdaId: string, sinceMs: number): { calls: number; failed: number };
}

export interface ChecksOptions {
  calls: Calls;
  ownHosts: readonly string[];
  variablesThere: readonly string[];
}

/** Checks of lambdas before a push, also of those that it does not change: tested, all variables set, no local addresses. */
export function checksBeforePush(steps: readonly PlannedStep[], options: ChecksOptions): PublishingCheck[] {
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
