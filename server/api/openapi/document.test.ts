import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { resourceTypes } from '../../model/registry.ts';
import { hiddenProperties } from '../../model/rules/secrets.ts';
import { isReservedName } from '../../model/types/organization.ts';
import { namingOf } from '../routes/type-naming.ts';
import { namedSchemas } from '../schemas/parts.ts';
import { openApiDocument } from './document.ts';
import { jsonSchemaOf } from './json-schema.ts';

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

/** D-022. */
const ALWAYS_ANSWERED = [
  ...['id', 'name', 'resource_type', 'resource_state'],
  ...['org', 'owner', 'created', 'modified', 'properties'],
];

const VERBS = ['get', 'post', 'put', 'patch', 'delete'];
/** Schemas that a client sends as it got them, or that name something in one form. */
const SAME_IN_BOTH = ['SeedDocument', 'TestEvents'];

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

  it('has an example of a request for each resource type, which its schema allows', () => {
    for (const type of resourceTypes) {
      const examples = at('components', 'schemas', namingOf(type).requestSchema, 'examples');
      const typeName = type.example.resource_type?.replace('Platform::', 'Acme::');
      expect(examples).toEqual([{ ...type.example, ...(typeName && { resource_type: typeName }) }]);
      expect(type.properties.safeParse(type.example.properties).error, type.name).toBeUndefined();
    }
  });

  it('has no two paths that are the same but for the names of their parameters', () => {
    const forms = Object.keys(objectAt('paths')).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(forms.filter((form, at) => forms.indexOf(form) !== at)).toEqual([]);
  });

  it('resolves all references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(1000);
    expect([...new Set(references)].filter((path) => at(...path.split('/')) === undefined)).toEqual([]);
  });

  it('has no unused component', () => {
    const text = JSON.stringify(document);
    const names = ['schemas', 'parameters', 'responses'].flatMap((kind) =>
      Object.keys(objectAt('components', kind)).map((name) => `#/components/${kind}/${name}`),
    );
    expect(names.filter((name) => !text.includes(`"$ref":"${name}"`))).toEqual([]);
  });

  it('gives each operation its own id, a summary, and responses for success and for errors of the client', () => {
    expect(operations.length).toBeGreaterThan(300);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { operationId, summary, responses } of operations) {
      const statuses = Object.keys(Object(responses));
      expect(summary).not.toBe('');
      // A terminal is a WebSocket: a successful handshake is 101.
      expect([operationId, statuses]).toEqual([
        operationId,
        expect.arrayContaining([expect.stringMatching(/^(2|101)/)]),
      ]);
      expect([operationId, statuses]).toEqual([operationId, expect.arrayContaining(['400', '403', '414'])]);
    }
  });

  it('uses no keyword that generators of clients misunderstand', () => {
    const keywords = new Map<string, Json[]>();
    const visit = (value: Json | undefined): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, member] of Object.entries(value)) {
        keywords.set(name, [...(keywords.get(name) ?? []), member]);
        visit(member);
      }
    };
    visit(document.components);
    for (const name of ['prefixItems', 'const', 'readOnly', 'writeOnly', '$id', '$defs', 'patternProperties'])
      expect(keywords.get(name), name).toBeUndefined();
    // In components, `default` is only the name of a member; the types of properties with a default would not be optional.
    expect(keywords.get('default')?.filter((value) => !isJsonObject(value)) ?? []).toEqual([]);
    const patterns = z.array(z.string()).parse(keywords.get('pattern')?.filter((value) => typeof value === 'string'));
    expect(patterns.length).toBeGreaterThan(5);
    // Unicode classes, look-around and escapes that other regular expressions read differently or not at all.
    expect(patterns.filter((pattern) => /\\[pPuUdDwWbBkK1-9/]|\(\?(?!:)/.test(pattern))).toEqual([]);
  });

  it('has no schema that is in both requests and responses, besides those that have no other form', () => {
    const names = (content: Json | undefined, visited = new Set<string>()): Set<string> => {
      for (const [, name = ''] of JSON.stringify(content ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        if (!visited.has(name)) names(at('components', 'schemas', name), visited.add(name));
      }
      return visited;
    };
    const requested = names(operations.map(({ requestBody = null }) => requestBody));
    const answered = names(operations.map(({ responses = null }) => responses));
    expect([...requested].filter((name) => answered.has(name)).sort()).toEqual(SAME_IN_BOTH);
  });

  it('has ambiguous paths only where a fixed first segment cannot be the name of an organization', () => {
    const paths = Object.keys(objectAt('paths')).map((path) => path.split('/'));
    const isParameter = (part = '') => part.startsWith('{');
    for (const path of paths) {
      for (const other of paths) {
        const isSame = (part: string, index: number) =>
          part === other[index] || isParameter(part) || isParameter(other[index]);
        if (path.length !== other.length || !path.every(isSame)) continue;
        const isFixed = (part: string, index: number) => !isParameter(part) && isParameter(other[index]);
        const pathIndex = path.findIndex(isFixed);
        const otherIndex = other.findIndex((part, index) => !isParameter(part) && isParameter(path[index]));
        if (pathIndex < 0 || otherIndex < 0) continue; // the one with more fixed segments
        const [name, parameter] =
          pathIndex < otherIndex ? [path[pathIndex], other[pathIndex]] : [other[otherIndex], path[otherIndex]];
        expect([path.join('/'), parameter]).toEqual([path.join('/'), '{fqon}']);
        expect([name, isReservedName(name) || !/^[a-z0-9-]+$/.test(name ?? '')]).toEqual([name, true]);
      }
    }
  });

  it('describes every rule that only code checks', () => {
    const undescribed: string[] = [];
    const visited = new Set<unknown>();
    const visit = (value: unknown, location: string): void => {
      if (typeof value !== 'object' || value === null || visited.has(value)) return;
      visited.add(value);
      if (value instanceof z.ZodType) {
        const { description } = z.toJSONSchema(value, { unrepresentable: 'any', io: 'input' });
        const hasRule = value._zod.def.checks?.some((check) => check._zod.def.check === 'custom');
        if (hasRule && !description && !jsonSchemaOf(value).description) undescribed.push(location);
        visit(value._zod.def, location);
        return;
      }
      for (const [name, member] of Object.entries(value)) visit(member, `${location}/${name}`);
    };
    for (const { collection, properties } of resourceTypes) visit(properties, collection);
    for (const [name, schema] of namedSchemas()) visit(schema, name);
    expect(undescribed).toEqual([]);
  });

  it('describes just the tags that operations have, each in one service', () => {
    const described = z.array(z.object({ name: z.string(), description: z.string() })).parse(document.tags);
    const used = new Set(operations.flatMap(({ tags }) => z.array(z.string()).parse(tags)));
    expect(described.map(({ name }) => name).sort()).toEqual([...used].sort());
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
  });

  it('lists which routes need no credentials: health, about, tokens and itself', () => {
    expect(at('paths', '/meta/health', 'get', 'security')).toEqual([]);
    expect(at('paths', '/security/{fqon}/oauth/issue', 'post', 'security')).toEqual([]);
    expect(at('paths', '/security/accounts/{account_id}/apiKeys', 'post', 'security')).toEqual([{ basic: [] }]);
    expect(at('paths', '/results/{result_id}', 'get', 'security')).toEqual([{ bearer: [] }]);
    expect(document.security).toEqual([{ basic: [] }, { bearer: [] }]);
  });

  it('begins the description of each route for the root user with that, and no other', () => {
    for (const { operationId, description = '', 'x-terrarium-right': right } of operations)
      expect([operationId, String(description).startsWith('For the root user.')]).toEqual([
        operationId,
        right === 'root',
      ]);
    expect(at('paths', '/inspect/leads', 'delete', 'description')).toBe('For the root user.');
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

describe.each(resourceTypes.map((type) => [type.collection, type] as const))(
  'the document on %s',
  (collection, type) => {
    const { schema, idParameter } = namingOf(type);
    const path = `/meta/{fqon}/${collection}`;

    it('has its lists, records, and creation under each of its parents', () => {
      expect(at('paths', path, 'get')).toBeDefined();
      for (const verb of ['get', 'patch', 'delete'])
        expect(at('paths', `${path}/{${idParameter}}`, verb)).toBeDefined();
      expect(at('paths', `${path}/{${idParameter}}`, 'put') !== undefined).toBe(type.replaceable === true);
      expect(at('paths', path, 'post') !== undefined).toBe(type.parents.includes('orgs'));
      for (const parent of resourceTypes.filter((candidate) => type.parents.includes(candidate.collection))) {
        const below = `/meta/{fqon}/${parent.collection}/{${namingOf(parent).idParameter}}/${collection}`;
        expect(at('paths', below, 'get')).toBeDefined();
        expect(at('paths', below, 'post')).toBeDefined();
      }
    });

    it('has the properties that a client can set in requests, and those that the server sets as ignored there', () => {
      const registered = z.toJSONSchema(type.properties, { io: 'input', unrepresentable: 'any' });
      const requested = objectAt('components', 'schemas', `${schema}PropertiesRequest`);
      const properties = Object(requested.properties);
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(registered.properties ?? {})));
      expect(requested.required ?? []).toEqual(registered.required ?? []);
      for (const name of type.serverSet) expect(properties[name]).toMatchObject({ 'x-terrarium-ignored': true });
      const { required } = objectAt('components', 'schemas', `${schema}Request`);
      expect(z.array(z.string()).parse(required)).toContain('name');
    });

    it('has all properties but the secret ones in responses', () => {
      const registered = z.toJSONSchema(type.properties, { io: 'input', unrepresentable: 'any' });
      const answered = objectAt('components', 'schemas', `${schema}Properties`);
      const hidden = hiddenProperties(type);
      const visibleNames = (names: readonly string[] = []) => names.filter((name) => !hidden.includes(name));
      const names = [...Object.keys(registered.properties ?? {}), ...type.serverSet];
      expect(Object.keys(Object(answered.properties))).toEqual(expect.arrayContaining(visibleNames(names)));
      for (const name of hidden) expect(answered.properties).not.toHaveProperty(name);
      expect(answered.required ?? []).toEqual(visibleNames(registered.required));
      expect(objectAt('components', 'schemas', schema).required).toEqual(ALWAYS_ANSWERED);
    });
  },
);
