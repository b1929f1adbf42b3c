import type { StoredResource, Uuid, WorldView } from './record.ts';
import { typeOf } from './registry.ts';
import { currentPathOf } from './resource-path.ts';
import { EVENT_RULE } from './rules/policy-rules.ts';
import type { TypeWord } from './type-words.ts';

export interface CodeToRun {
  id: Uuid;
  type: TypeWord;
  path: string;
  /** Triggers of the code, for users: `2 processes kept ready`, `endpoint /acme/site/hello`. */
  reasons: string[];
}

/**
 * Returns the code that runs because of new or changed resources, now or when called (D-215), including lambdas of
 * endpoints and event rules.
 */
export function codeToRun(view: WorldView, changed: Iterable<Uuid>): CodeToRun[] {
  const found = new Map<Uuid, CodeToRun>();
  const add = (record: StoredResource, reason: string) => {
    const reported = found.get(record.id) ?? {
      id: record.id,
      type: typeOf(record).collection,
      path: currentPathOf(view, record),
      reasons: [],
    };
    if (!reported.reasons.includes(reason)) reported.reasons.push(reason);
    found.set(record.id, reported);
  };
  for (const id of new Set(changed)) {
    const record = view.find(id);
    if (!record) continue;
    for (const reason of ownReasons(record)) add(record, reason);
    for (const caller of view.referrers(id)) {
      const reason = callReason(view, caller, id);
      if (reason !== undefined) add(record, reason);
    }
    const called = view.find(calledBy(record) ?? '');
    const reason = called && callReason(view, record, called.id);
    if (called && reason !== undefined) add(called, reason);
  }
  return [...found.values()];
}

function ownReasons(record: StoredResource): string[] {
  const { num_instances: instances, image, pre_warm: ready, periodic_info: period } = record.properties;
  switch (typeOf(record).collection) {
    case 'containers':
    case 'jobs':
      return Number(instances) > 0 ? [`${instances} of image ${image}`] : [];
    case 'lambdas':
      return [
        ...(Number(ready) > 0 ? [`${ready} kept ready`] : []),
        ...(period === undefined ? [] : ['run on a schedule if the settings allow it']),
      ];
    default:
      return [];
  }
}

/** The target of an endpoint or an event rule: a lambda or container. */
function calledBy({ type, properties }: StoredResource): Uuid | undefined {
  const named = typeOf({ type }).collection === 'apiendpoints' ? properties.implementation_id : properties.lambda;
  return typeof named === 'string' && (type === EVENT_RULE || typeOf({ type }).collection === 'apiendpoints')
    ? named
    : undefined;
}

function callReason(view: WorldView, caller: StoredResource, called: Uuid): string | undefined {
  return calledBy(caller) === called ? `${typeOf(caller).singular} ${currentPathOf(view, caller)}` : undefined;
}
