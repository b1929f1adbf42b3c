import { timeOf } from './iso-time.ts';
import { isJsonObject, type Json, jsonIn } from './json.ts';
import type { OutboundAnswer } from './outbound-rule.ts';

/** A part of the request, or of the moment. Other text in double braces belongs to templates of the response's receiver. */
const TEMPLATE = /\{\{\s*(request\.[^{}]*|now\s*|uuid\s*)\}\}/g;
const VALID_NAME = /^(now|uuid|request\.(method|path|body|(query|headers|body)\..+))$/s;
const VALID_NAMES =
  '{{request.method}}, {{request.path}}, {{request.query.NAME}}, {{request.headers.NAME}}, {{request.body}}, {{request.body.NAME}}, {{now}} or {{uuid}}';
/** A string in a JSON text, which may lack its end. */
const JSON_STRING = /("(?:[^"\\]+|\\.)*"?)/s;
/** The length of what one response repeats of its request, which a rule may insert many times. */
const MAX_INSERTED_CHARACTERS = 10 * 1024 * 1024;

/** The request that an answer is for. */
export interface TemplateRequest {
  nowMs: number;
  makeUuid(): string;
  method: string;
  /** The path with its query; in a request to a proxy, the whole address. */
  target: string;
  /** Values by names in lower case. */
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

/** Returns the reason why the text is not valid in an answer; undefined if it is valid. */
export function faultOfTemplates(text: string): string | undefined {
  const names = Array.from(text.matchAll(TEMPLATE), ([, name = '']) => name.trim());
  const unknownName = names.find((name) => !VALID_NAME.test(name));
  return unknownName === undefined
    ? undefined
    : `contains {{${unknownName.slice(0, 100)}}}, which is no part of a request. Use ${VALID_NAMES}.`;
}

/** True if the answer contains the request's body or a part of it. */
export function needsRequestBody({ body, headers }: OutboundAnswer): boolean {
  return /\{\{[^{}]*request\.body/.test(JSON.stringify([body, headers])); // where a line break is `\n`
}

/** Inserts the parts of a request into the answer's body and headers. Throws if the result is too long. */
export function fillAnswer(answer: OutboundAnswer, request: TemplateRequest): OutboundAnswer {
  let insertedCharacters = 0;
  const fillText = (text: string, escapePart = (value: string) => value): string =>
    text.replace(TEMPLATE, (template, name: string) => {
      if (!VALID_NAME.test(name.trim())) return template; // in rules of earlier versions
      const inserted = escapePart(textOf(partOf(request, name.trim())));
      insertedCharacters += inserted.length;
      if (insertedCharacters <= MAX_INSERTED_CHARACTERS) return inserted;
      throw new Error(`it repeats more than ${MAX_INSERTED_CHARACTERS} characters of the request`);
    });
  const fillJson = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(fillJson);
    if (isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillJson(member)]));
    return typeof value === 'string' ? fillText(value) : value;
  };
  const headers = Object.entries(answer.headers ?? {}).map(([name, value]): [string, string] => [
    name,
    fillText(value, (inserted) => inserted.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?')),
  ]);
  const isJson = headers.some(([name, value]) => /^content-type$/i.test(name) && /\bjson\b/i.test(value));
  const fillBody = (text: string): string =>
    isJson
      ? text
          .split(JSON_STRING)
          .map((part, index) => fillText(part, index % 2 === 1 ? escapeJson : undefined))
          .join('')
      : fillText(text);
  const { body } = answer;
  return {
    ...answer,
    ...(answer.headers && { headers: Object.fromEntries(headers) }),
    ...(body !== undefined && {
      body: typeof body === 'string' ? fillBody(body) : fillJson(body),
    }),
  };
}

const escapeJson = (text: string) => JSON.stringify(text).slice(1, -1);

const textOf = (part: unknown): string =>
  typeof part === 'object' && part !== null ? JSON.stringify(part) : String(part ?? '');

/** The value that a template names; undefined if the request has none. */
function partOf({ nowMs, makeUuid, method, target, headers, body }: TemplateRequest, name: string): unknown {
  const [, kind, member = ''] = /^request\.(\w+)(?:\.(.*))?$/s.exec(name) ?? [name, name];
  const [path = '', query] = target.replace(/^https?:\/\/[^/?]*/i, '').split(/\?(.*)/s);
  switch (kind) {
    case 'now':
      return timeOf(nowMs);
    case 'uuid':
      return makeUuid();
    case 'method':
      return method;
    case 'path':
      return path;
    case 'query':
      return new URLSearchParams(query).get(member);
    case 'headers':
      return ownMember(headers, member.toLowerCase());
    default:
      if (member === '') return body;
      if (/urlencoded/i.test(String(headers['content-type']))) return new URLSearchParams(body).get(member);
      return member.split('.').reduce<unknown>(ownMember, jsonIn(body));
  }
}

/** An array's elements are members, too: `items.0`. */
function ownMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
