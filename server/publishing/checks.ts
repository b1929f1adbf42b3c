import type { PublishingCheck } from '../contract/publishing.ts';
import { memberOf } from '../model/json.ts';
import { unsetVariables } from '../model/read-variables.ts';
import type { PlannedStep } from './plan.ts';

/** Addresses that mean this machine, wherever they are read. */
const LOCAL = /\blocalhost\b|\b127(?:\.\d{1,3}){3}\b|\[::1\]|\b0\.0\.0\.0\b|\bhost\.docker\.internal\b/i;

/** What became of the calls of a lambda since a moment. */
export interface CallCounts {
  /** How many there were, tries and replays too; and how many came to nothing. */
  calls: number;
  failed: number;
}

/** Who knows what ran here. */
export interface Calls {
  /** @param sinceMs epoch milliseconds */
  since(lambdaId: string, sinceMs: number): CallCounts;
}

export interface ChecksOptions {
  calls: Calls;
  /** Hosts with ports that are this platform's own. */
  ownHosts: readonly string[];
  /** Variables that a lambda has at the destination from above. */
  variablesThere: readonly string[];
}

/** What should hold of lambdas before they are pushed: it was tried, it has what it reads, it leads nowhere local. */
export function checksBeforePush(steps: readonly PlannedStep[], options: ChecksOptions): PublishingCheck[] {
  return [triedCheck(steps, options.calls), variablesCheck(steps, options), addressCheck(steps, options.ownHosts)];
}

function triedCheck(steps: readonly PlannedStep[], calls: Calls): PublishingCheck {
  const faults = lambdasIn(steps).flatMap(({ wanted: { name, record } }) => {
    const endpoints = steps.filter(({ wanted }) => wanted.record.properties.implementation_id === record.id);
    const changedMs = Math.max(...[record, ...endpoints.map(({ wanted }) => wanted.record)].map(changedAt));
    const counts = calls.since(record.id, changedMs);
    if (counts.calls === 0) return [`${name} was not called since its last change`];
    if (counts.failed === 0) return [];
    return [`${counts.failed} of ${counts.calls} calls of ${name} came to nothing since its last change`];
  });
  return told('Tried since the last change', faults, 'every call since the last change ended well');
}

function changedAt(record: object): number {
  const timestamp = memberOf(memberOf(record, 'modified'), 'timestamp');
  return (typeof timestamp === 'string' && Date.parse(timestamp)) || 0;
}

function variablesCheck(steps: readonly PlannedStep[], { variablesThere }: ChecksOptions): PublishingCheck {
  const faults = lambdasIn(steps).flatMap(({ wanted: { name, form } }) => {
    const { code, env } = form.properties;
    const own = typeof env === 'object' && env ? Object.keys(env) : [];
    const unset = typeof code === 'string' ? unsetVariables(code, form.properties, [...own, ...variablesThere]) : [];
    return unset.length === 0 ? [] : [`${name} reads ${unset.join(', ')}, which nobody sets there`];
  });
  return told('Variables set', faults, 'every variable that the code reads is set there');
}

function addressCheck(steps: readonly PlannedStep[], ownHosts: readonly string[]): PublishingCheck {
  const isLocal = (text: string) => LOCAL.test(text) || ownHosts.some((host) => text.includes(host));
  const faults = lambdasIn(steps).flatMap(({ wanted: { name, form } }) => {
    const { code, env, package_url: url } = form.properties;
    const lines = typeof code === 'string' ? code.split('\n') : [];
    const line = lines.findIndex(isLocal);
    const variables = Object.entries(typeof env === 'object' && env ? env : {});
    return [
      ...(line >= 0 ? [`line ${line + 1} of ${name} names this machine`] : []),
      ...variables.flatMap(([key, value]) => (isLocal(String(value)) ? [`${key} of ${name} names this machine`] : [])),
      ...(typeof url === 'string' && (url.startsWith('file:') || isLocal(url))
        ? [`the package of ${name} is on this machine`]
        : []),
    ];
  });
  return told('No local address', faults, 'neither code nor variables name this machine');
}

function lambdasIn(steps: readonly PlannedStep[]): PlannedStep[] {
  return steps.filter(({ told: { kind, action } }) => kind === 'lambda' && action !== 'unchanged');
}

function told(name: string, faults: readonly string[], good: string): PublishingCheck {
  return { name, isGood: faults.length === 0, sentence: faults.length === 0 ? good : faults.join('; ') };
}
