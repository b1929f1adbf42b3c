import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { captured, MAX_CAPTURED_BYTES } from '../../model/exchange-record.ts';
import { toBodyView, toHeaderView, toTargetView, toWireBodyView } from './shown-body.ts';

const bodyView = (text: string, type?: string) => toBodyView(captured(text), type);

describe('a body as it is shown', () => {
  it.each([
    ['{"username":"u","password":"p"}', '{"username":"u","password":"<hidden>"}'],
    [
      '{"access_token":"t","token_type":"Bearer","expires_in":5}',
      '{"access_token":"<hidden>","token_type":"Bearer","expires_in":5}',
    ],
    ['[{"a":{"apiSecret":"x","api_key":"y"}}]', '[{"a":{"apiSecret":"<hidden>","api_key":"<hidden>"}}]'],
    ['{"items":[{"key":"k","value":"v"}]}', '{"items":[{"key":"k","value":"<hidden>"}]}'],
    [
      '[{"op":"replace","path":"/properties/password","value":"p"}]',
      '[{"op":"replace","path":"/properties/password","value":"<hidden>"}]',
    ],
    [
      '[{"op":"add","path":"/properties/items/0/value","value":"p"}]',
      '[{"op":"add","path":"/properties/items/0/value","value":"<hidden>"}]',
    ],
    ['{ "name" : "as it was sent" }', '{ "name" : "as it was sent" }'],
    ['{"broken": 1, "client_secret": "x', '{"broken": 1, "client_secret":"<hidden>"'],
    ['no JSON', 'no JSON'],
  ])('of %s is %s', (bodyText, text) => {
    expect(bodyView(bodyText, 'application/json')).toEqual({ sizeBytes: bodyText.length, text });
  });

  it('hides fields of forms', () => {
    const form = 'grant_type=password&username=u&password=p%26q&first+name=x';
    expect(bodyView(form, 'application/x-www-form-urlencoded; charset=utf-8').text).toBe(
      'grant_type=password&username=u&password=%3Chidden%3E&first+name=x',
    );
  });

  it('is base64 when it is no text', () => {
    const bytes = Uint8Array.from([0xff, 0x00, 0x80]);
    expect(toBodyView(captured(bytes), undefined)).toEqual({ sizeBytes: 3, base64: '/wCA' });
    expect(toBodyView(captured('x'), 'image/png')).toEqual({ sizeBytes: 1, base64: 'eA==' });
  });

  it('is cut beyond a size, also in the midst of a character', () => {
    const longText = `x${'é'.repeat(MAX_CAPTURED_BYTES)}`;
    const { sizeBytes, isCut, text } = bodyView(longText, 'text/plain');
    expect([sizeBytes, isCut]).toEqual([1 + MAX_CAPTURED_BYTES * 2, true]);
    expect(longText.startsWith(String(text))).toBe(true);
  });
});

it('headers show the kind of the credentials, not their values', () => {
  const headers = {
    Authorization: 'Bearer abc',
    authorization: 'raw',
    Cookie: 'a=b',
    'PRIVATE-TOKEN': 'x',
    Accept: '*/*',
  };
  expect(Object.entries(headers).map(([name, value]) => toHeaderView(name, value))).toEqual([
    'Bearer <hidden>',
    '<hidden>',
    '<hidden>',
    '<hidden>',
    '*/*',
  ]);
});

it('a query tells no secrets', () => {
  expect(toTargetView('/a?b=c&access_token=x')).toBe('/a?b=c&access_token=%3Chidden%3E');
  expect(toTargetView('/a?b=c')).toBe('/a?b=c');
});

describe('a body that went over the wire as it is shown', () => {
  it('is decompressed, masked and as large as it was sent', () => {
    const json = { contentType: 'application/json', contentEncoding: 'gzip' };
    const compressed = gzipSync('{"access_token":"t","n":1}');
    expect(toWireBodyView({ ...captured(compressed), ...json })).toEqual({
      sizeBytes: compressed.length,
      encoding: 'gzip',
      text: '{"access_token":"<hidden>","n":1}',
    });
    const half = { bytes: compressed.subarray(0, compressed.length - 10), sizeBytes: compressed.length };
    expect(toWireBodyView({ ...half, ...json })).toMatchObject({ isCut: true, encoding: 'gzip' });
  });

  it('is base64 when it cannot be decompressed, or would grow without end', () => {
    const bomb = gzipSync('x'.repeat(50_000_000));
    expect(toWireBodyView({ ...captured(bomb), contentType: 'text/plain', contentEncoding: 'gzip' })).toMatchObject({
      sizeBytes: bomb.length,
      encoding: 'gzip',
      base64: expect.any(String),
    });
    for (const contentEncoding of ['gzip', 'zstd'])
      expect(toWireBodyView({ ...captured('plain'), contentEncoding })).toMatchObject({ base64: 'cGxhaW4=' });
  });
});
