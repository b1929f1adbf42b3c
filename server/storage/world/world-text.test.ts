import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { checksumOf, parseWorldText } from './world-text.ts';

const [a, b] = [
  { id: 'a', text: 'a\n    }, "x": {\n  }\u2028', deep: { '    }': [{}, { more: null }] } },
  { id: 'b', empty: {} },
];
const textOf = (value: object) => JSON.stringify(value, null, 2);
const world = { format: 1, id: 'w', resources: { a, b }, checksum: '00000000' };
const { resources, ...head } = world;
const parsed = (text: string) => parseWorldText(Buffer.from(text));

test.each([
  ['as we lay it out', textOf(world)],
  ['in one line', JSON.stringify(world)],
  ['with tabs', JSON.stringify(world, null, '\t')],
  ['with an object behind the records', textOf({ ...world, checksum: undefined, more: { in: {} } })],
  ['with a blank line between records', textOf(world).replace(',\n    "b"', ',\n\n    "b"')],
])('a world is read %s', async (_, text) => {
  const { resources: expected, ...rest } = JSON.parse(text);
  expect(await parsed(text)).toEqual({ head: rest, records: new Map(Object.entries(expected)) });
});

test('members beside the records are distinguished from them', async () => {
  expect(await parsed(textOf(world))).toEqual({ head, records: new Map(Object.entries(resources)) });
  expect(await parsed(textOf({ ...head, resources: {} }))).toEqual({ head, records: new Map() });
  expect(await parsed(textOf(head))).toEqual({ head, records: undefined });
  expect(await parsed('{"resources": [1]}')).toEqual({ head: { resources: [1] }, records: undefined });
  expect(await parsed('7')).toEqual({ head: 7, records: undefined });
});

const ours = textOf(world);
test.each([
  ['a comma too few', ours.replace('},\n    "b"', '}\n    "b"')],
  ['a comma too many', ours.replace('    }\n  },\n  "checksum"', '    },\n  },\n  "checksum"')],
  ['something between records', ours.replace('},\n    "b"', '};\n    "b"')],
  ['an end that is missing', ours.slice(0, ours.indexOf('"b"'))],
  ['a record that is cut', ours.replace('"empty": {}', '"empty": {')],
])('invalid JSON is refused: %s', async (_, text) => {
  expect(text).not.toBe(ours);
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  await expect(parsed(text)).rejects.toThrow(SyntaxError);
});

test('others have their turn while many records are read', async () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`r${at}`, { ...a, at }]));
  let turns = 0;
  let isDone = false;
  const reading = parsed(textOf({ ...head, resources: many })).finally(() => {
    isDone = true;
  });
  for (; !isDone; turns++) await nextTurn();
  expect((await reading).records?.size).toBe(20_000);
  expect(turns).toBeGreaterThan(5);
});

test('the checksum is that of the whole', async () => {
  const bytes = Buffer.alloc(3 * 1024 * 1024 + 17, 'terrarium');
  expect(await checksumOf(bytes)).toBe(crc32(bytes));
  expect(await checksumOf(Buffer.alloc(0))).toBe(crc32(Buffer.alloc(0)));
});
