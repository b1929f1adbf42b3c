import type { TypeWord } from '../../../../server/model/type-words.ts';

/** What a new resource of a type has before one has written anything: what nearly all of them have. */
export function firstProperties(word: TypeWord): Record<string, unknown> {
  return structuredClone(FIRST[word] ?? {});
}

const CODE = `exports.run = (event, context, callback) => {
  callback(null, 'Hello from ' + JSON.parse(context).lambdaName);
};
`;

const FIRST: Partial<Record<TypeWord, Record<string, unknown>>> = {
  environments: { environment_type: 'development' },
  lambdas: { runtime: 'nodejs', code_type: 'inline', handler: 'run', code: CODE },
  containers: {
    container_type: 'DOCKER',
    port_mappings: [{ name: 'web', protocol: 'tcp', container_port: 80, expose_endpoint: true }],
  },
  jobs: { container_type: 'DOCKER' },
  apiendpoints: { resource: '/', implementation_type: 'lambda' },
  rules: { match_actions: [{ action: 'lambda.create.post' }] },
  volumes: { type: 'persistent' },
  secrets: { items: [{ key: '', value: '' }] },
};
