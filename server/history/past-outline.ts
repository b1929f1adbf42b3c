import type { historyRows } from '../contract/history.ts';
import type { QueryOf } from '../contract/row.ts';
import type { CommitResource } from '../model/commit.ts';
import { pathOf } from '../model/resource-path.ts';
import { inTurns } from '../store/turns.ts';
import type { PastWorld } from '../store/world-history.ts';

/** Which of a past world's resources are asked for. */
type OutlineQuery = Omit<QueryOf<typeof historyRows.outlineWorldAt>, 'at'>;

/** Lists what there was at a moment. The moment that was looked at last is remembered, for its next pages. */
export function pastOutline() {
  let latest: { seq: number; resources: CommitResource[] } | undefined;
  const outlineOf = async ({ seq, resources }: PastWorld): Promise<CommitResource[]> => {
    if (latest?.seq === seq) return latest.resources;
    const outline: CommitResource[] = [];
    await inTurns(resources.values(), (record) => {
      const { id, type, name } = record;
      outline.push({ id, type, name, path: pathOf(record, (parent) => resources.get(parent)) });
    });
    outline.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    latest = { seq, resources: outline };
    return outline;
  };
  return async (world: PastWorld, { q = '', offset, limit }: OutlineQuery) => {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const all = await outlineOf(world);
    const matching = words.length === 0 ? all : all.filter((one) => words.every((word) => holds(one, word)));
    return { seq: world.seq, total: matching.length, resources: matching.slice(offset, offset + limit) };
  };
}

function holds({ id, type, path }: CommitResource, word: string): boolean {
  return path.toLowerCase().includes(word) || type.toLowerCase().includes(word) || id.startsWith(word);
}
