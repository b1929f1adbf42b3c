import type { StoredResource } from '../model/record.ts';
import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';

/** How many resources of a word stand below a node, at any depth. Costs as many steps as there are places for them. */
export function countBelow(view: WorldView, node: StoredResource, word: TypeWord): number {
  let count = view.children(node.id, word).length;
  for (const place of placesFor(word)) {
    for (const child of view.children(node.id, place)) count += countBelow(view, child, word);
  }
  return count;
}

/** The words of the types below which a resource of that word may stand, at any depth. */
function placesFor(word: TypeWord): ReadonlySet<TypeWord> {
  const places = new Set(typeOfWord(word).parents);
  // A set visits what is added while it is walked, so this ends when no further place is found.
  for (const place of places) for (const above of typeOfWord(place).parents) places.add(above);
  return places;
}
