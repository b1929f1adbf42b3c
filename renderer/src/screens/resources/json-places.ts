import { stepTo } from '../../../../server/model/pointer.ts';
/** Where a value stands in a text, by offset. */
export interface Place {
  from: number;
  to: number;
  /** Of the member's name, where it is a member. */
  nameFrom?: number;
  nameTo?: number;
}

/** A string, a number or word, or one of the signs. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Where each value of a JSON text stands, by pointer. The text has to be valid JSON.
 */
export function placesIn(text: string): Map<string, Place> {
  const places = new Map<string, Place>();
  /** The containers around, each with what of its pointer comes next. */
  const open: { pointer: string; from: number; isList: boolean; index: number; name?: Token }[] = [];
  const tokens = text.matchAll(TOKEN);
  let isNameNext = false;

  const pointerHere = () => {
    const around = open.at(-1);
    if (!around) return '';
    return around.pointer + stepTo(around.isList ? around.index : JSON.parse(around.name?.text ?? '""'));
  };
  const placeHere = (from: number, to: number): Place => {
    const name = open.at(-1)?.name;
    return name ? { from, to, nameFrom: name.from, nameTo: name.from + name.text.length } : { from, to };
  };
  for (const { 0: token, index: from } of tokens) {
    const around = open.at(-1);
    if (token === '{' || token === '[') {
      const pointer = pointerHere();
      places.set(pointer, placeHere(from, from + 1));
      open.push({ pointer, from, isList: token === '[', index: 0 });
      isNameNext = token === '{';
    } else if (token === '}' || token === ']') {
      const closed = open.pop();
      const place = closed && places.get(closed.pointer);
      if (closed && place) place.to = from + 1;
      isNameNext = false;
    } else if (token === ',') {
      if (around) around.index += 1;
      isNameNext = around !== undefined && !around.isList;
    } else if (token !== ':') {
      if (isNameNext && around) {
        around.name = { text: token, from };
        isNameNext = false;
      } else {
        places.set(pointerHere(), placeHere(from, from + token.length));
      }
    }
  }
  return places;
}

interface Token {
  text: string;
  from: number;
}

/** The place of a pointer, or of the nearest thing around it that is in the text. */
export function nearestPlace(places: ReadonlyMap<string, Place>, pointer: string): Place {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = places.get(at);
    if (place) return at === '' ? { from: place.from, to: place.from + 1 } : place;
    if (at === '') return { from: 0, to: 0 };
  }
}
