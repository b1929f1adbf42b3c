import type { Caller } from '../model/caller.ts';
import type { Uuid } from '../model/ids.ts';
import { typeOf } from '../model/registry.ts';
import type { Gate } from './serve.ts';

/** What a caller sees of what the platform shows beyond its contract. */
export interface Eyes {
  /** May they look at the whole platform: at what is of no resource, or of one that is gone? Takes org.view on the root organization. */
  seesAll: boolean;
  /** May they view the resource that something is of? Undefined stands for what is of none. */
  sees(id: Uuid | undefined): boolean;
}

/** Asked for once an answer: remembers what it was asked, since lists ask for the same few resources again and again. */
export function eyesOf({ view, judge }: Pick<Gate, 'view' | 'judge'>, caller: Caller): Eyes {
  if (caller.isRoot) return { seesAll: true, sees: () => true };
  const seesAll = judge.may(caller, 'org.view', view.root.id);
  const known = new Map<Uuid | undefined, boolean>([[undefined, seesAll]]);
  return {
    seesAll,
    sees(id) {
      const before = known.get(id);
      if (before !== undefined) return before;
      const record = id === undefined ? undefined : view.find(id);
      const isSeen = id !== undefined && record ? judge.may(caller, `${typeOf(record).noun}.view`, id) : seesAll;
      known.set(id, isSeen);
      return isSeen;
    },
  };
}
