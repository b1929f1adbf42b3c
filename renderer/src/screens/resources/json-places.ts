import { jsonLanguage } from '@codemirror/lang-json';
import { stepTo } from '../../../../server/model/patch/pointer.ts';

/** Where a value is in a text, by offset. */
export interface Place {
  from: number;
  to: number;
  /** Of the member's name, where it is a member. */
  nameFrom?: number;
  nameTo?: number;
}

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

/** The position of each value of a JSON text, by pointer. The text has to be valid JSON. */
export function placesIn(text: string): Map<string, Place> {
  const places = new Map<string, Place>();
  const visit = (node: SyntaxNode, pointer: string, name?: SyntaxNode) => {
    const { from, to } = node;
    places.set(pointer, { from, to, ...(name && { nameFrom: name.from, nameTo: name.to }) });
    let index = 0;
    for (let child = node.firstChild; child; child = child.nextSibling) {
      const { firstChild, lastChild } = child;
      if (child.name === 'Property' && firstChild && lastChild) {
        visit(lastChild, pointer + stepTo(JSON.parse(text.slice(firstChild.from, firstChild.to))), firstChild);
      } else if (VALUE.test(child.name)) {
        visit(child, pointer + stepTo(index));
        index += 1;
      }
    }
  };
  const { firstChild } = jsonLanguage.parser.parse(text).topNode;
  if (firstChild) visit(firstChild, '');
  return places;
}

/** The nodes of the grammar that are values; the others are signs. */
const VALUE = /^(Object|Array|String|Number|True|False|Null)$/;

/** The place of a pointer, or of the nearest thing around it that is in the text. */
export function nearestPlace(places: ReadonlyMap<string, Place>, pointer: string): Place {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = places.get(at);
    if (place) return at === '' ? { from: place.from, to: place.from + 1 } : place;
    if (at === '') return { from: 0, to: 0 };
  }
}
