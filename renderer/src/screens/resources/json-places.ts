import { jsonLanguage } from '@codemirror/lang-json';
import { stepTo } from '../../../../server/model/patch/pointer.ts';

export interface TextRange {
  from: number;
  to: number;
  /** The start of the member's name, if the value is a member. */
  nameFrom?: number;
  nameTo?: number;
}

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

/** The position of each value of a JSON text, by pointer. The text has to be valid JSON. */
export function rangesIn(text: string): Map<string, TextRange> {
  const ranges = new Map<string, TextRange>();
  const visit = (node: SyntaxNode, pointer: string, name?: SyntaxNode) => {
    const { from, to } = node;
    ranges.set(pointer, { from, to, ...(name && { nameFrom: name.from, nameTo: name.to }) });
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
  return ranges;
}

/** The nodes of the grammar that are values; the others are signs. */
const VALUE = /^(Object|Array|String|Number|True|False|Null)$/;

/** The place of a pointer, or of the nearest thing around it that is in the text. */
export function nearestRange(ranges: ReadonlyMap<string, TextRange>, pointer: string): TextRange {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const range = ranges.get(at);
    if (range) return at === '' ? { from: range.from, to: range.from + 1 } : range;
    if (at === '') return { from: 0, to: 0 };
  }
}
