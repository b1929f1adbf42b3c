import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agoText, bytesText, durationText } from './amounts.ts';
import {
  columnTemplate,
  findNear,
  fittingColumns,
  movedIndex,
  nextSorting,
  parseSorting,
  sortedRows,
} from './grid-layout.ts';
import { jsonTokens } from './json-tokens.ts';

describe('amounts', () => {
  it.each([
    [0.42, '0.4 ms'],
    [38.2, '38 ms'],
    [1420, '1.42 s'],
    [20_000, '20.0 s'],
    [185_000, '3 min 5 s'],
    [7_800_000, '2 h 10 min'],
  ])('says %d ms as people do', (ms, text) => expect(durationText(ms)).toBe(text));

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1400, '1.4 kB'],
    [999_600, '1.0 MB'],
    [12_300_000, '12 MB'],
  ])('says %d bytes as people do', (bytes, text) => expect(bytesText(bytes)).toBe(text));

  it('says how long ago something was, and how soon it will be', () => {
    expect(agoText(1000, 2000)).toBe('just now');
    expect(agoText(0, 185_000)).toBe('3 min ago');
    expect(agoText(200_000, 0)).toBe('in 3 min');
  });
});

describe('the layout of grids', () => {
  it('moves by a row, a page or to the ends, and never out of the list', () => {
    expect(movedIndex('j', -1, 5, 3)).toBe(0);
    expect(movedIndex('ArrowDown', 4, 5, 3)).toBe(4);
    expect(movedIndex('PageUp', 1, 5, 3)).toBe(0);
    expect(movedIndex('End', 0, 5, 3)).toBe(4);
    expect(movedIndex('x', 0, 5, 3)).toBeUndefined();
    expect(movedIndex('j', 0, 0, 3)).toBeUndefined();
  });

  it('finds a row again wherever rows came or went', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 1 }), fc.nat(), fc.nat(), (rows, at, guess) => {
        const index = at % rows.length;
        expect(findNear(rows, (row) => row, rows[index] ?? '', guess % (rows.length + 5))).toBe(index);
      }),
    );
    expect(findNear(['a', 'b'], (row) => row, 'c', 0)).toBeUndefined();
  });

  it('gives columns their pixels or their share', () => {
    expect(columnTemplate([{ width: 92 }, { width: { share: 2 } }, { width: { share: 1, minWidth: 80 } }])).toBe(
      '92px minmax(120px, 2fr) minmax(80px, 1fr)',
    );
  });
});

describe('columns', () => {
  it('go where there is too little space, the least needed first, and never those that identify a row', () => {
    const columns = [
      { id: 'status', width: 100 },
      { id: 'lambda', width: { share: 1, minWidth: 110 }, hideOrder: 1 },
      { id: 'http', width: 50, hideOrder: 3 },
      { id: 'result', width: { share: 2 }, hideOrder: 2 },
    ];
    const shownAt = (px: number) => fittingColumns(columns, px).map(({ id }) => id);
    expect(shownAt(380)).toEqual(['status', 'lambda', 'http', 'result']);
    expect(shownAt(379)).toEqual(['status', 'lambda', 'result']);
    expect(shownAt(250)).toEqual(['status', 'lambda']);
    expect(shownAt(10)).toEqual(['status']);
    expect(shownAt(0)).toHaveLength(4);
  });

  it('put rows in order: the greatest first, then the least first, then as they came; none without a value in front', () => {
    const columns = [
      { id: 'took', header: '', width: 9, cell: () => null, sortBy: ({ took }: { took?: number }) => took },
    ];
    const rows = [{ took: 5 }, {}, { took: 40 }, { took: 7 }];
    const sort = (text: string | undefined) => sortedRows(rows, columns, parseSorting(text)).map(({ took }) => took);
    const presses = [undefined, '-took', 'took'];
    expect(presses.map((now) => nextSorting(parseSorting(now), 'took'))).toEqual(['-took', 'took', undefined]);
    expect(presses.map(sort)).toEqual([
      [5, undefined, 40, 7],
      [40, 7, 5, undefined],
      [5, 7, 40, undefined],
    ]);
  });
});

describe('the colours of JSON', () => {
  it('loses and adds nothing, whatever the text is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(
          jsonTokens(text)
            .map((token) => token.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });

  it('tells names, texts, numbers and words apart', () => {
    const kinds = jsonTokens('{"a": "b", "c": [1, true]}').filter(({ kind }) => kind !== 'sign');
    expect(kinds.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'name "a"',
      'text "b"',
      'name "c"',
      'number 1',
      'word true',
    ]);
  });
});
