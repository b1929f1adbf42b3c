import type { CommitResource } from '../model/commit.ts';
import { pathOf } from '../model/resource-path.ts';
import { inTurns } from '../store/turns.ts';
import type { PastWorld } from '../store/world-history.ts';

/** Which of a past world's resources are asked for. */
export interface OutlineQuery {
  /** Words that path, type or id hold. */
  q?: string | undefined;
  offset: number;
  limit: number;
}

/** Resources of a past world in the order of their paths. */
export interface OutlinePage {
  seq: number;
  /** How many match. */
  total: number;
  resources: CommitResource[];
}

/** Lists what there was at a moment. The moment that was looked at last is remembered, for its next pages. */
export class PastOutline {
  #latest: { seq: number; resources: CommitResource[] } | undefined;

  async page(world: PastWorld, { q = '', offset, limit }: OutlineQuery): Promise<OutlinePage> {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const all = await this.#outlineOf(world);
    const matching = words.length === 0 ? all : all.filter((one) => words.every((word) => holds(one, word)));
    return { seq: world.seq, total: matching.length, resources: matching.slice(offset, offset + limit) };
  }

  async #outlineOf({ seq, resources }: PastWorld): Promise<CommitResource[]> {
    if (this.#latest?.seq === seq) return this.#latest.resources;
    const outline: CommitResource[] = [];
    await inTurns(resources.values(), (record) => {
      const { id, type, name } = record;
      outline.push({ id, type, name, path: pathOf(record, (parent) => resources.get(parent)) });
    });
    outline.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    this.#latest = { seq, resources: outline };
    return outline;
  }
}

function holds({ id, type, path }: CommitResource, word: string): boolean {
  return path.toLowerCase().includes(word) || type.toLowerCase().includes(word) || id.startsWith(word);
}
