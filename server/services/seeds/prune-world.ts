import { PlatformError } from '../../model/errors.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { pathOf } from '../../model/resource-path.ts';
import { allBelow } from '../../model/rules/hierarchy.ts';
import type { SeedTarget } from './seed-target.ts';

/** Deletes what is not kept: its users first, children before parents. Throws 409 if something that stays uses it; deletions stay. */
export async function pruneWorld(
  target: Pick<SeedTarget, 'view' | 'remove'>,
  organizations: readonly Uuid[],
  keptIds: ReadonlySet<Uuid>,
): Promise<void> {
  const { view } = target;
  const doomed = new Set(
    organizations.flatMap((id) => [...allBelow(view, id)]).flatMap(({ id }) => (keptIds.has(id) ? [] : [id])),
  );
  const remove = async (record: StoredResource): Promise<void> => {
    if (!doomed.delete(record.id)) return;
    for (const dependant of [...view.children(record.id), ...view.referrers(record.id)]) await remove(dependant);
    const path = pathOf(record, (id) => view.find(id));
    try {
      await target.remove(record.id);
    } catch (cause) {
      if (!(cause instanceof PlatformError)) throw cause;
      throw new PlatformError(cause.reason, `${path} cannot be pruned: ${cause.message}`, { cause });
    }
  };
  for (const id of doomed) {
    const record = view.find(id);
    if (record) await remove(record);
  }
}
