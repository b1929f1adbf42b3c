import fc from 'fast-check';
import type { Operation } from 'fast-json-patch';
import { PlatformError } from '../model/errors.ts';
import { isImageReference } from '../model/image-reference.ts';
import type { JsonObject } from '../model/json.ts';
import type { Uuid } from '../model/record.ts';
import { typeOfWord, typeWords } from '../model/registry.ts';
import { actionsOf } from '../model/rules/actions.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { Actor } from '../services/resources/actor.ts';
import type { ResourceService } from '../services/resources/resource-service.ts';

/** One attempt to change a world; numbers select existing resources. */
export interface ArbitraryRequest {
  action: TypeWord | 'patch' | 'grant' | 'remove' | 'disable';
  at: number;
  first: number;
  other: number;
  name: string;
  text: string;
  json: JsonObject;
}

const names = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'web', 'default-lambda', 'default-docker', 'root') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '__proto__',
      'proto',
      'constructor',
      '=a',
      '/a',
      'a/b',
      'a~1b',
      '10',
      '1e3',
      'null',
      'true',
      '# no',
      '- x',
      'ä: ö',
      '00000000-0000-4000-8000-000000000001',
      '<<',
      ' ',
    ),
  },
  fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
);

const texts = fc.oneof(
  fc.constantFrom(
    'exports.run = 1;',
    'a\r\nb\n',
    ' leading\n\n trailing \n',
    'abcd',
    'YWJjZA==',
    'WVdKalpBPT0=',
    '\ufeffx\ny',
    '<not exported>',
    '---\n...\n',
    "'",
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
);

/** Requests that lead to worlds of all kinds, including unusual names and texts. */
export const requests: fc.Arbitrary<ArbitraryRequest[]> = fc.array(
  fc.record({
    action: fc.constantFrom<ArbitraryRequest['action'][]>(
      ...(['orgs', 'workspaces', 'environments', 'environments', 'providers', 'users', 'groups', 'policies'] as const),
      ...([
        'rules',
        'rules',
        'secrets',
        'volumes',
        'lambdas',
        'lambdas',
        'lambdas',
        'containers',
        'containers',
      ] as const),
      ...(['jobs', 'apis', 'apis', 'apiendpoints', 'apiendpoints', 'apiendpoints'] as const),
      ...(['patch', 'patch', 'grant', 'grant', 'remove', 'disable'] as const),
    ),
    at: fc.nat(),
    first: fc.nat(),
    other: fc.nat(),
    name: names,
    text: texts,
    json: fc
      .dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }))
      .map((json): JsonObject => JSON.parse(JSON.stringify(json).replaceAll('__proto__', 'proto'))), // bodies with this member are refused
  }),
  { minLength: 20, maxLength: 80, size: 'max' },
);

/** Creates an environment, then sends the requests; refused ones are ignored. */
export async function applyRequests(
  service: ResourceService,
  actor: Actor,
  all: readonly ArbitraryRequest[],
): Promise<void> {
  const organization = await service.create(actor, service.view.root.id, 'orgs', { name: 'acme' });
  const workspace = await service.create(actor, organization.id, 'workspaces', { name: 'shop' });
  const properties = { environment_type: 'development' };
  await service.create(actor, workspace.id, 'environments', { name: 'one', properties });
  for (const request of all) {
    try {
      await applyRequest(service, actor, request);
    } catch (refusal) {
      if (!(refusal instanceof PlatformError)) throw refusal;
    }
  }
}

async function applyRequest(service: ResourceService, actor: Actor, request: ArbitraryRequest): Promise<void> {
  const { view } = service;
  const { action, at, first, other, name, text, json } = request;
  const chosen = (collection: TypeWord, number: number) =>
    view.all(collection)[number % Math.max(view.all(collection).length, 1)];
  const idOf = (collection: TypeWord, number = first): Uuid => chosen(collection, number)?.id ?? '';
  /** Any resource but the root organization. */
  const anyResource = () => {
    const all = typeWords.flatMap((collection) => view.all(collection)).filter(({ parent }) => parent !== null);
    return all[at % all.length] ?? view.root;
  };
  const provider = (kind: string) => {
    const fitting = view.all('providers').filter(({ type }) => type.endsWith(kind));
    const id = fitting[first % fitting.length]?.id ?? '';
    return { id: other % 3 === 0 ? id.toUpperCase() : id };
  };

  switch (action) {
    case 'patch': {
      const operations: Operation[] = [
        { op: 'add', path: '/description', value: text },
        { op: 'add', path: '/tags', value: [name, text] },
        { op: 'add', path: '/variables', value: { [name.replaceAll('__proto__', 'proto')]: text } },
        { op: 'replace', path: '/name', value: name },
        { op: 'add', path: '/properties/env', value: { A: text, ID: anyResource().id } },
        { op: 'add', path: '/properties/linked_providers', value: [{ id: idOf('providers') }] },
      ];
      const operation = operations[first % operations.length];
      if (operation) await service.patch(actor, other % 9 === 0 ? view.root.id : anyResource().id, [operation]);
      return;
    }
    case 'grant': {
      const target = other % 5 === 0 ? view.root : anyResource();
      const actions = [...actionsOf(target)];
      const identity = first % 2 === 0 ? idOf('users') : idOf('groups');
      const grant = {
        add: identity ? [identity] : [],
        remove: [idOf('users', other)],
        ...(at % 3 === 0 && { value: json }),
      };
      const granted = actions.slice(first % actions.length).slice(0, 2);
      await service.setGrants(actor, target.id, ({ grants }) => ({
        grants: { ...grants, ...Object.fromEntries(granted.map((action) => [action, grant])) },
      }));
      return;
    }
    case 'remove':
      return service.remove(actor, anyResource().id, { force: first % 2 === 0, deleteContainers: false });
    case 'disable': {
      const user = chosen('users', first);
      if (user)
        await service.commit(actor, 'user.update', [{ ...user, properties: { ...user.properties, disabled: true } }]);
      return;
    }
    default: {
      const parents = typeOfWord(action).parents.flatMap((collection) => view.all(collection));
      const parent = parents[at % Math.max(parents.length, 1)];
      if (!parent) return;
      const isDns = ['containers', 'jobs', 'secrets', 'volumes', 'apis', 'orgs'].includes(action);
      const kinds: Partial<Record<TypeWord, string[]>> = {
        providers: ['CaaS::Docker', 'Lambda', 'Kong', 'GatewayManager', 'Logging'].map(
          (kind) => `Acme::Configuration::Provider::${kind}`,
        ),
        rules: ['Acme::Resource::Rule::Event', 'Acme::Resource::Rule::Limit'],
      };
      const kind = kinds[action]?.[first % (kinds[action]?.length ?? 1)];
      const body = {
        name: isDns ? `${action}-${first % 4}` : name,
        ...(kind && { resource_type: kind }),
        ...(other % 4 === 0 && { description: text, tags: [name] }),
        properties: propertiesFor(),
      };
      await service.create(actor, parent.id, action, body);
    }
  }

  function propertiesFor(): JsonObject {
    const mount = { secret_id: idOf('secrets', other), mount_type: 'env', path: 'P', secret_key: 'k' };
    const mounted = chosen('secrets', other) && first % 2 === 0 ? { secrets: [mount] } : {};
    const workload = {
      provider: provider('Docker'),
      container_type: 'DOCKER',
      image: isImageReference(text) ? text : 'nginx',
      ...mounted,
      env: { SELF: text },
      port_mappings: [
        { protocol: 'tcp', name: 'web', container_port: 80, expose_endpoint: first % 2 === 0, extra: json },
      ],
      health_checks: [{ protocol: 'HTTP', path: text }],
      volumes: [
        { mount_path: '/a', volume_resource: { name: `v${other % 5}`, properties: { type: 'empty_dir' } } },
        ...(chosen('volumes', first) ? [{ mount_path: '/b', volume_id: idOf('volumes') }] : []),
      ],
    };
    const properties: Record<TypeWord, JsonObject> = {
      orgs: { env: { A: text } },
      workspaces: first % 2 === 0 ? {} : { env: { A: text, OF: idOf('lambdas') } },
      environments: { environment_type: ['development', 'TEST', 'Production', 'system'][first % 4] ?? '' },
      providers: {
        ...json,
        config: { ...json, auth: { credentials: at % 2 === 0 ? text : json, url: text } },
        linked_providers: [{ id: idOf('providers', other), location: text, name: text }],
        services: [
          { container_spec: { name: 's', properties: { provider: { id: at % 2 === 0 ? text : idOf('providers') } } } },
        ],
      },
      users: { password: text || 'x', firstName: text, email: text, acme_home: 'root', phoneNumber: name },
      groups: {
        users: view
          .all('users')
          .map(({ id }) => id)
          .slice(first % 3),
      },
      policies: {},
      rules:
        first % 2 === 0
          ? { actions: ['lambda.create.post'], lambda: idOf('lambdas', other) }
          : {
              match_actions: [{ action: 'container.create' }],
              strict: false,
              eval_logic: { property: 'containers.count', operator: '<', value: 99 },
            },
      secrets: {
        provider: provider('Docker'),
        items: [
          { key: 'k', value: text },
          { key: name, value: name },
        ],
      },
      volumes: { provider: provider('Docker'), type: 'empty_dir', config: json },
      lambdas: {
        provider: provider('Lambda'),
        runtime: 'nodejs',
        code_type: 'Inline',
        code: at % 2 === 0 ? text : Buffer.from(text).toString('base64'),
        handler: 'run',
        env: { TARGET: idOf('environments', other).toUpperCase(), TEXT: text },
        ...mounted,
        periodic_info: json,
      },
      containers: workload,
      jobs: workload,
      apis: {
        provider: {
          ...provider('GatewayManager'),
          locations: [text, idOf('providers').toUpperCase(), idOf('providers', other)],
        },
      },
      apiendpoints: {
        resource: `/${other % 7}`,
        implementation_type: at % 2 === 0 ? 'lambda' : 'container',
        implementation_id: idOf(at % 2 === 0 ? 'lambdas' : 'containers', other),
        container_port_name: 'web',
        plugins: {
          acmeSecurity: {
            enabled: true,
            users: [idOf('users')].filter(Boolean),
            groups: [idOf('groups')].filter(Boolean),
          },
          other: { users: [text], groups: json },
        },
      },
    };
    return properties[action as TypeWord]; // the other requests create nothing
  }
}
