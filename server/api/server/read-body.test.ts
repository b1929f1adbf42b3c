import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from './read-body.ts';

describe('JSON from outside (D-007)', () => {
  it('is read as it was written', () => {
    const value = fc.jsonValue({ maxDepth: 20, noUnicodeString: false });
    fc.assert(
      fc.property(value, fc.nat(3), (json, indent) => {
        const text = JSON.stringify(json, undefined, indent);
        fc.pre(!text.includes('__proto__'));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is read up to a depth of 100, arrays and objects alike, however full of brackets its texts are', () => {
    const noise = fc.string({ unit: fc.constantFrom('[', '{', '"', '\\', 'x', ']') });
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 90, maxLength: 110 }), noise, (levels, text) => {
        const nested = levels.reduce<unknown>((inner, isArray) => (isArray ? [text, inner] : { [text]: inner }), text);
        const parse = () => parseJson(JSON.stringify(nested));
        if (levels.length <= 100) expect(parse()).toEqual(nested);
        else expect(parse).toThrow('JSON is nested deeper than 100 levels');
      }),
    );
  });

  it.each(['', '{', '[1,]', "{'a':1}", '{"a":1}}', 'undefined', 'NaN', '{"a":1,}', '"\u0001"', '// x\n1'])(
    '%j is malformed',
    (text) => expect(() => parseJson(text)).toThrow(/^malformed JSON/),
  );

  it.each([
    '{"__proto__":{"x":1}}',
    '[{"a":{"__proto__":null}}]',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"\\u005f_proto__":1}',
  ])('%s contains a prototype key and is refused', (text) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ status: 400 }));
    expect({}).not.toHaveProperty('x');
  });

  it('may speak of prototypes in its texts and of constructors without one', () => {
    expect(parseJson('{"a":"__proto__","constructor":"me"}')).toEqual({ a: '__proto__', constructor: 'me' });
  });

  it.each([
    ['{"a":["x","\\ud800"]}', '/a/1'],
    ['{"a":{"b/c":"\\uDC00x"}}', '/a/b~1c'],
    ['{"a":{"\\udfff":1}}', '/a'],
  ])('%s is refused, because half of a surrogate pair is no character', (text, pointer) => {
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({ status: 400, details: [expect.objectContaining({ pointer })] }),
    );
  });

  it('may escape a whole surrogate pair', () => {
    expect(parseJson('"\\ud83d\\ude00"')).toBe('😀');
  });
});
