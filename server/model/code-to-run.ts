import type { Uuid } from './ids.ts';
import { EVENT_RULE } from './policy-rules.ts';
import type { StoredResource } from './record.ts';
import { typeOf } from './registry.ts';
import { pathOf } from './resource-path.ts';
import type { TypeWord } from './type-words.ts';
import type { WorldView } from './world-view.ts';

/** A resource whose code a change of the world lets run. */
export interface CodeToRun {
  id: Uuid;
  type: TypeWord;
  /** Names from the root organization down. */
  path: string;
  /** What makes it run, for people: `2 processes kept ready`, `endpoint /acme/site/hello`. */
  reasons: string[];
}

/**
 * What runs, at once or when somebody calls, because of some resources that are new or changed (D-215): containers and jobs with
 * instances, lambdas that are kept ready or run by the clock, and those that an endpoint or an event rule names.
 */
export function codeToRun(view: WorldView, changed: Iterable<Uuid>): CodeToRun[] {
  const found = new Map<Uuid, CodeToRun>();
  const tell = (record: StoredResource, reason: string) => {
    const told = found.get(record.id) ?? {
      id: record.id,
      type: typeOf(record).word,
      path: at(view, record),
      reasons: [],
    };
    if (!told.reasons.includes(reason)) told.reasons.push(reason);
    found.set(record.id, told);
  };
  for (const id of new Set(changed)) {
    const record = view.find(id);
    if (!record) continue;
    for (const reason of ownReasons(record)) tell(record, reason);
    for (const caller of view.referrers(id)) {
      const reason = callReason(view, caller, id);
      if (reason !== undefined) tell(record, reason);
    }
    const called = view.find(calledBy(record) ?? '');
    const reason = called && callReason(view, record, called.id);
    if (called && reason !== undefined) tell(called, reason);
  }
  return [...found.values()];
}

/** Why a resource runs whatever else there is. */
function ownReasons(record: StoredResource): string[] {
  const { num_instances: instances, image, pre_warm: ready, periodic_info: period } = record.properties;
  switch (typeOf(record).word) {
    case 'containers':
    case 'jobs':
      return Number(instances) > 0 ? [`${instances} of image ${image}`] : [];
    case 'lambdas':
      return [
        ...(Number(ready) > 0 ? [`${ready} kept ready`] : []),
        ...(period === undefined ? [] : ['run by the clock where the settings allow it']),
      ];
    default:
      return [];
  }
}

/** The lambda or container that an endpoint or an event rule leads to. */
function calledBy({ type, properties }: StoredResource): Uuid | undefined {
  const named = typeOf({ type }).word === 'apiendpoints' ? properties.implementation_id : properties.lambda;
  return typeof named === 'string' && (type === EVENT_RULE || typeOf({ type }).word === 'apiendpoints')
    ? named
    : undefined;
}

function callReason(view: WorldView, caller: StoredResource, called: Uuid): string | undefined {
  return calledBy(caller) === called ? `${typeOf(caller).noun} ${at(view, caller)}` : undefined;
}

function at(view: WorldView, record: StoredResource): string {
  return pathOf(record, (id) => view.find(id));
}
