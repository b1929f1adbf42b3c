import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
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

const options = {
  version: '1.2.3',
  typePrefix: 'Acme',
  baseUrl: 'http://127.0.0.1:4700',
  gatewayUrl: 'http://127.0.0.1:4701',
};
const document = openApiDocument(options);
const PARTS = [
  ['platform', document],
  ['gateway', openApiDocument(options, 'gateway')],
  ['inspect', openApiDocument(options, 'inspect')],
] as const;

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

const operationsOf = ({ paths }: JsonObject): JsonObject[] =>
  Object.values(Object(paths)).flatMap((item) =>
    VERBS.flatMap((verb) => {
      const operation = memberOf(item as Json, verb);
      return isJsonObject(operation) ? [operation] : [];
    }),
  );
const operations = operationsOf(document);

describe('the OpenAPI document', () => {
  it.each(PARTS)('is one of OpenAPI 3.1: %s', async (_, part) => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(part));
    expect(result.errors).toBeUndefined();
    expect(validator.version).toBe('3.1');
  });

  it.each(PARTS)('has an example of every body in JSON, which its schema allows: %s', (_, part) => {
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    ajv.addSchema(part, 'document');
    const faults = operationsOf(part).flatMap(({ operationId, requestBody }) =>
      Object.entries(Object(memberOf(requestBody, 'content'))).flatMap(([type, content]) => {
        if (type === 'application/zip') return [];
        const example = memberOf(content, 'example');
        const schema = JSON.parse(
          JSON.stringify(memberOf(content, 'schema')).replaceAll('#/components', 'document#/components'),
        );
        const isValid = example !== undefined && ajv.validate(schema, example);
        return isValid ? [] : [`${operationId}: ${example === undefined ? 'no example' : ajv.errorsText()}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  it.each(PARTS)('has no two names that differ only in case, which are one file on some systems: %s', (_, part) => {
    const names = ['schemas', 'parameters'].flatMap((kind) => Object.keys(Object(memberOf(part.components, kind))));
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    expect(names).not.toContain('Error');
  });

  it('offers to filter a list by simple properties, each by its name', () => {
    const namesOf = (path: string) => JSON.stringify(at('paths', path, 'get', 'parameters'));
    const ofLambdas = namesOf('/meta/{fqon}/lambdas');
    expect(ofLambdas).toContain('"name":"runtime"');
    for (const name of ['filter', 'env', 'secrets', 'gpu_support']) expect(ofLambdas).not.toContain(`"name":"${name}"`);
  });

  it('has the types of examples with the configured prefix', () => {
    const content = at('paths', '/meta/{fqon}/providers', 'post', 'requestBody', 'content', 'application/json');
    expect(memberOf(memberOf(content, 'example'), 'resource_type')).toMatch(/^Acme::/);
  });

  it('declares the words of closed lists', () => {
    const property = (schema: string, name: string) =>
      JSON.stringify(at('components', 'schemas', schema, 'properties', name));
    expect(property('LambdaPropertiesRequest', 'code_type')).toContain('"enum":["code","inline","package"]');
    expect(property('EnvironmentPropertiesRequest', 'environment_type')).toContain('"enum":["development",');
    expect(property('ApiEndpointPropertiesRequest', 'methods')).toContain('"enum":["GET",');
    expect(property('RulePropertiesRequest', 'eval_logic')).toContain('"enum":["==",');
  });

  it('has no two paths that are the same but for the names of their parameters', () => {
    const forms = Object.keys(objectAt('paths')).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(forms.filter((form, at) => forms.indexOf(form) !== at)).toEqual([]);
  });

  it.each(PARTS)('has just the components that it refers to: %s', (_, part) => {
    const references = [...JSON.stringify(part).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, path]) => path);
    const components = ['schemas', 'parameters', 'responses'].flatMap((kind) =>
      Object.keys(Object(memberOf(part.components, kind))).map((name) => `${kind}/${name}`),
    );
    expect([...new Set(references)].sort()).toEqual(components.sort());
  });

  it('gives each operation its own id, a summary, and responses for success and for errors of the client', () => {
    expect(operations.length).toBeGreaterThan(300);
    for (const name of ['operationId', 'summary'])
      expect(new Set(operations.map(({ [name]: text }) => text)).size, name).toBe(operations.length);
    for (const { operationId, summary, description, responses } of operations) {
      const statuses = Object.keys(Object(responses));
      expect(summary).not.toBe('');
      expect([operationId, description]).toEqual([operationId, expect.stringMatching(/\.$/)]);
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

  it.each(PARTS)(
    'has no schema in both requests and responses, besides those that have no other form: %s',
    (_, part) => {
      const names = (content: Json | undefined, visited = new Set<string>()): Set<string> => {
        for (const [, name = ''] of JSON.stringify(content ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
          if (!visited.has(name)) names(memberOf(memberOf(part.components, 'schemas'), name), visited.add(name));
        }
        return visited;
      };
      const requested = names(operationsOf(part).map(({ requestBody = null }) => requestBody));
      const answered = names(operationsOf(part).map(({ responses = null }) => responses));
      const isShared = (name: string) => answered.has(name) && !SAME_IN_BOTH.includes(name);
      expect([...requested].filter(isShared)).toEqual([]);
    },
  );

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

  it.each(PARTS)('describes just the tags that operations have, each in one service: %s', (_, part) => {
    const described = z.array(z.object({ name: z.string(), description: z.string() })).parse(part.tags);
    const used = new Set(operationsOf(part).flatMap(({ tags }) => z.array(z.string()).parse(tags)));
    expect(described.map(({ name }) => name).sort()).toEqual([...used].sort());
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
  });

  it('lists which routes need no credentials: health, about, tokens and itself', () => {
    expect(at('paths', '/meta/health', 'get', 'security')).toEqual([]);
    expect(at('paths', '/security/{fqon}/oauth/issue', 'post', 'security')).toEqual([{}, { basic: [] }]);
    for (const [path, verb] of [
      ['/api/async', 'post'],
      ['/{api_name}/{endpoint}', 'get'],
    ] as const)
      expect(at('paths', path, verb, 'security')).toEqual([{}, { basic: [] }, { bearer: [] }]);
    expect(at('paths', '/security/accounts/{account_id}/apiKeys', 'post', 'security')).toEqual([{ basic: [] }]);
    expect(at('paths', '/results/{result_id}', 'get', 'security')).toEqual([{ bearer: [] }]);
    expect(document.security).toEqual([{ basic: [] }, { oauth2: [] }, { bearer: [] }]);
    expect(at('components', 'securitySchemes', 'oauth2', 'flows', 'password', 'tokenUrl')).toBe(
      'http://127.0.0.1:4700/security/root/oauth/issue',
    );
  });

  it('begins the description of each route for the root user with that, and no other', () => {
    for (const { operationId, description = '', 'x-terrarium-right': right } of operations)
      expect([operationId, String(description).startsWith('For the root user.')]).toEqual([
        operationId,
        right === 'root',
      ]);
    expect(memberOf(memberOf(memberOf(PARTS[2][1].paths, '/inspect/leads'), 'delete'), 'description')).toBe(
      'For the root user.',
    );
  });

  it("has the platform's contract apart from the routes of the emulator, and the gateway in a document of its own", () => {
    const [platform, gateway, inspect] = PARTS.map(([, part]) => Object.keys(Object(part.paths)));
    expect(platform?.filter((path) => /^\/(inspect|log)\//.test(path))).toEqual([]);
    expect(inspect?.filter((path) => !/^\/(inspect|log)\//.test(path))).toEqual([]);
    expect(gateway).toEqual(['/api/async', '/results/{result_id}', '/{api_name}/{endpoint}']);
    expect(PARTS[1][1].servers).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:4701' })]);
  });

  it.each(PARTS)('refers to its page: %s', (name, { externalDocs }) => {
    expect(externalDocs).toMatchObject({ url: `http://127.0.0.1:4700/docs?document=${name}` });
  });

  it('documents that a published endpoint can answer with any status', () => {
    expect(at('paths', '/{api_name}/{endpoint}', 'get', 'responses', 'default', 'content')).toHaveProperty(['*/*']);
  });

  it('has the gateway at its own address', () => {
    expect(document.servers).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:4700' })]);
    for (const path of ['/api/async', '/results/{result_id}', '/{api_name}/{endpoint}']) {
      expect(at('paths', path, 'servers')).toEqual([expect.objectContaining({ url: 'http://127.0.0.1:4701' })]);
    }
  });

  it('uses the configured prefix of type names', () => {
    expect(JSON.stringify(at('components', 'schemas', 'Provider'))).toContain('Acme::Configuration::Provider::CaaS');
    expect(at('components', 'schemas', 'AccessToken', 'properties', 'acme_access_token_href')).toBeDefined();
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

    it('has the properties that a client can set in requests, and names those that the server sets', () => {
      const registered = z.toJSONSchema(type.properties, { io: 'input', unrepresentable: 'any' });
      const requested = objectAt('components', 'schemas', `${schema}PropertiesRequest`);
      const properties = Object(requested.properties);
      expect(Object.keys(properties)).toEqual(Object.keys(registered.properties ?? {}));
      expect(requested.required ?? []).toEqual(registered.required ?? []);
      expect(requested['x-terrarium-server-set']).toEqual([...type.serverSet, 'parent'].sort());
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
