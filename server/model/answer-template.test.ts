import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { fillAnswer, needsRequestBody } from './answer-template.ts';
import type { OutboundAnswer } from './outbound-rule.ts';

const FORM = 'application/x-www-form-urlencoded';
const json = { name: 'Ada "L"', items: [{ price: 7 }], nested: { 'a b': true }, echo: '{{request.method}}' };

function fill(answer: OutboundAnswer, request: { body?: string; target?: string; type?: string } = {}): OutboundAnswer {
  const { body = JSON.stringify(json), target = '/items/7?id=a%20b&id=c', type = 'application/json' } = request;
  const headers = { 'content-type': type, 'x-id': 'é\u0100' };
  return fillAnswer(answer, { nowMs: 0, makeUuid: randomUUID, method: 'PUT', target, headers, body });
}

it.each([
  ['{{request.method}} {{ request.path }}', 'PUT /items/7'],
  ['{{request.query.id}}, {{request.query.none}}', 'a b, '],
  ['{{request.headers.X-Id}}{{request.headers.__proto__}}', 'é\u0100'],
  ['{{request.body.name}} {{request.body.items.0.price}} {{request.body.nested.a b}}', 'Ada "L" 7 true'],
  ['{{request.body.items}} {{request.body.items.length.x}}{{request.body.constructor}}', '[{"price":7}] '],
  ['{{request.body}}', JSON.stringify(json)],
  ['{{request.body.echo}}', '{{request.method}}'],
  ['{{now}}', '1970-01-01T00:00:00.000Z'],
  ['{{name}} {{request}} {{request.unknown}} {{}} {{{x}}}', '{{name}} {{request}} {{request.unknown}} {{}} {{{x}}}'],
])('a text with %s is filled', (text, expected) => {
  expect(fill({ body: text }).body).toBe(expected);
});

it.each(['{{request.body}}', '{{ request.body.name}}', '{{\n\t\v\u2028request.body}}'])('%j needs the body', (text) => {
  for (const answer of [{ body: text }, { body: { a: [text] } }, { headers: { a: text } }])
    expect(needsRequestBody(answer)).toBe(true);
  expect(needsRequestBody({ body: text.replace('body', 'path') })).toBe(false);
});

it('a part of a form is its field, also with a dot in its name', () => {
  const request = { body: 'user.name=Ada+L&x=%26', type: `${FORM}; charset=utf-8` };
  expect(fill({ body: '{{request.body.user.name}}{{request.body.x}}' }, request).body).toBe('Ada L&');
  expect(fill({ body: '{{request.body.name}}' }, { body: '{', type: 'text/plain' }).body).toBe('');
});

it('the path of a request to a proxy is that of the address', () => {
  expect(fill({ body: '{{request.path}}' }, { target: 'http://a.example/b?c' }).body).toBe('/b');
});

it('the values of a JSON body are filled, and what is inserted into a string of a JSON text is escaped', () => {
  const filled = fill({ body: { a: ['{{request.body.name}}', 1, null], '{{uuid}}': '{{request.body}}' } });
  expect(filled.body).toEqual({ a: ['Ada "L"', 1, null], '{{uuid}}': JSON.stringify(json) });
  const headers = { 'Content-Type': 'application/problem+json' };
  const body = '{"name": "\\"{{request.body.name}}\\"", "items": {{request.body.items}}, "all": "{{request.body}}"}';
  const text = String(fill({ headers, body }).body);
  expect(JSON.parse(text)).toEqual({ name: '"Ada "L""', items: json.items, all: JSON.stringify(json) });
});

it('a header has no character that headers cannot have', () => {
  expect(
    fill({ headers: { A: '{{request.headers.x-id}}{{request.query.a}}' } }, { target: '/?a=%0Db' }).headers,
  ).toEqual({
    A: 'é??b',
  });
});

it('a random id differs each time', () => {
  const [first, second] = String(fill({ body: '{{uuid}} {{uuid}}' }).body).split(' ');
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).not.toBe(first);
});

it('a response that repeats too much of its request fails', () => {
  const body = '{{request.body}}'.repeat(11);
  expect(() => fill({ body }, { body: 'x'.repeat(1024 * 1024) })).toThrow('repeats more than 10485760 characters');
});

it('a long text that resembles templates or strings but contains none is sent as it is', () => {
  const texts = [`{{request.${' '.repeat(200_000)}`, '{{'.repeat(100_000), '"\\'.repeat(100_000)];
  for (const text of texts)
    expect(fill({ headers: { 'content-type': 'application/json' }, body: text }).body).toBe(text);
});
