import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { namingOf } from '../contract/type-naming.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import { resourceTypes } from '../model/registry.ts';
import { hiddenProperties } from '../model/secrets.ts';
import { openApiDocument } from './document.ts';

const document = openApiDocument({
  version: '1.2.3',
  typePrefix: 'Acme',
  baseUrl: 'http://127.0.0.1:4700',
  gatewayUrl: 'http://127.0.0.1:4701',
});

const at = (...path: string[]) => path.reduce<Json | undefined>((value, name) => memberOf(value, name), document);
const objectAt = (...path: string[]): JsonObject => {
  const found = at(...path);
  if (!isJsonObject(found)) throw new Error(`no object at ${path.join('/')}`);
  return found;
};

const VERBS = ['get', 'post', 'put', 'patch', 'delete'];
const operations = Object.values(objectAt('paths')).flatMap((item) =>
  VERBS.flatMap((verb) => {
    const operation = memberOf(item, verb);
    return isJsonObject(operation) ? [operation] : [];
  }),
);

describe('the OpenAPI document', () => {
  it('is one of OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result.errors).toBeUndefined();
    expect(validator.version).toBe('3.1');
  });

  it('has no two paths that are the same but for the names of their parameters', () => {
    const forms = Object.keys(objectAt('paths')).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(forms.filter((form, at) => forms.indexOf(form) !== at)).toEqual([]);
  });

  it('leads somewhere with each reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(1000);
    expect([...new Set(references)].filter((path) => at(...path.split('/')) === undefined)).toEqual([]);
  });

  it('has no component that nothing refers to', () => {
    const text = JSON.stringify(document);
    const names = ['schemas', 'parameters', 'responses'].flatMap((kind) =>
      Object.keys(objectAt('components', kind)).map((name) => `#/components/${kind}/${name}`),
    );
    expect(names.filter((name) => !text.includes(`"$ref":"${name}"`))).toEqual([]);
  });

  it('gives each operation an id of its own, a summary and an answer', () => {
    expect(operations.length).toBeGreaterThan(300);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    expect(operations.filter(({ summary, responses }) => !summary || !isJsonObject(responses))).toEqual([]);
  });

  it('describes just the tags that operations have, each in one service', () => {
    const described = z.array(z.object({ name: z.string(), description: z.string() })).parse(document.tags);
    const used = new Set(operations.flatMap(({ tags }) => z.array(z.string()).parse(tags)));
    expect(described.map(({ name }) => name).sort()).toEqual([...used].sort());
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
  });

  it('says that health, about, tokens and itself need no credentials, and what does', () => {
    expect(at('paths', '/meta/health', 'get', 'security')).toEqual([]);
    expect(at('paths', '/security/{fqon}/oauth/issue', 'post', 'security')).toEqual([]);
    expect(at('paths', '/security/accounts/{account_id}/apiKeys', 'post', 'security')).toEqual([{ basic: [] }]);
    expect(at('paths', '/results/{result_id}', 'get', 'security')).toEqual([{ bearer: [] }]);
    expect(document.security).toEqual([{ bearer: [] }, { basic: [] }]);
  });

  it('has the gateway at its own address', () => {
    expect(document.servers).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:4700' })]);
    for (const path of ['/api/async', '/results/{result_id}', '/{api_name}/{endpoint}']) {
      expect(at('paths', path, 'servers')).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:4701' })]);
    }
  });

  it('uses the configured prefix of type names', () => {
    expect(JSON.stringify(at('components', 'schemas', 'Provider'))).toContain('Acme::Configuration::Provider::CaaS');
    expect(at('components', 'schemas', 'Token', 'properties', 'acme_access_token_href')).toBeDefined();
  });
});

describe.each(resourceTypes.map((type) => [type.word, type] as const))('the document on %s', (word, type) => {
  const { schema, idParameter } = namingOf(type);
  const path = `/meta/{fqon}/${word}`;

  it('has its lists, records, and creation under each of its parents', () => {
    expect(at('paths', path, 'get')).toBeDefined();
    for (const verb of ['get', 'patch', 'delete']) expect(at('paths', `${path}/{${idParameter}}`, verb)).toBeDefined();
    expect(at('paths', `${path}/{${idParameter}}`, 'put') !== undefined).toBe(type.replaceable === true);
    expect(at('paths', path, 'post') !== undefined).toBe(type.parents.includes('orgs'));
    for (const parent of resourceTypes.filter((one) => type.parents.includes(one.word))) {
      const below = `/meta/{fqon}/${parent.word}/{${namingOf(parent).idParameter}}/${word}`;
      expect(at('paths', below, 'get')).toBeDefined();
      expect(at('paths', below, 'post')).toBeDefined();
    }
  });

  it('tells the properties that its schema in the registry has, and which of them only one side sets', () => {
    const registered = z.toJSONSchema(type.properties, { io: 'input', unrepresentable: 'any' });
    const properties = objectAt('components', 'schemas', `${schema}Properties`, 'properties');
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(registered.properties ?? {})));
    const isHidden = (name: string) => hiddenProperties(type).includes(name);
    const answered = registered.required?.filter((name) => !isHidden(name)) ?? [];
    expect(at('components', 'schemas', `${schema}Properties`, 'required') ?? []).toEqual(answered);
    // What nobody reads back is required of a new record only: a strict client reads the others.
    const required = { required: registered.required?.filter(isHidden) ?? [] };
    const body = at('paths', path, 'post', 'requestBody') ?? {};
    if (required.required.length > 0) expect(JSON.stringify(body)).toContain(JSON.stringify(required).slice(1, -1));
    for (const name of type.hidden ?? []) expect(memberOf(properties[name], 'readOnly')).toBeUndefined();
    for (const name of type.serverSet.filter((one) => !type.hidden?.includes(one))) {
      expect(properties[name]).toMatchObject({ readOnly: true });
      expect(memberOf(properties[name], 'type') ?? memberOf(properties[name], '$ref')).toBeDefined();
    }
  });
});
