import { z } from 'zod';
import { invalid, PlatformError } from '../errors.ts';
import { formFacts } from '../form-facts.ts';
import { periodicInfo } from '../period.ts';
import type { ResourceType } from '../resource-type.ts';
import { embeddedProvider, endpointsOf } from './embedded.ts';
import { demandMounts, secretMounts } from './mounts.ts';
import { demandFit, isLambdaProvider, newlyNamedProvider } from './provider-rules.ts';
import { anyCaseOf, ENV_LABEL, envMap, runBy, stringMap, typed } from './schema-parts.ts';

declare module '../type-words.ts' {
  interface TypeWords {
    lambdas: true;
  }
}

export const LAMBDA = 'Resource::Node::Lambda';

const ofPackage = { property: 'code_type', is: ['package'] };

const properties = z.strictObject({
  provider: runBy('Lambda').register(formFacts, { order: 1 }),
  runtime: z
    .string()
    .min(1)
    .describe('nodejs, with or without a version, in JavaScript or TypeScript; any other is stored and not run')
    .register(formFacts, { order: 2 }),
  code_type: anyCaseOf('code', 'inline', 'package')
    .describe('inline (or code, the same): the source is in the record; package: it is fetched from an address')
    .register(formFacts, { label: 'Where the code comes from', order: 3 }),
  code: z
    .string()
    .optional()
    .describe('Base64 of the source, or the source itself')
    .register(formFacts, {
      order: 4,
      kind: 'code',
      when: { property: 'code_type', is: ['inline', 'code'], isRequired: true },
    }),
  package_url: z
    .string()
    .regex(/^(https?|file):\/\//, 'must be an http, https or file URL')
    .optional()
    .describe('Where the package is; required for code_type package')
    .register(formFacts, { label: 'Address of the package', order: 5, when: { ...ofPackage, isRequired: true } }),
  compressed: z
    .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
    .optional()
    .describe('The package is a zip archive, not a single file')
    .register(formFacts, { order: 6, when: ofPackage }),
  handler: z
    .string()
    .min(1)
    .describe('Exported function, e.g. run; in a package file.function')
    .register(formFacts, { order: 7 }),
  public: z
    .boolean()
    .optional()
    .meta({ default: true, description: 'May be called without credentials; true unless given' }),
  memory: z.int().gt(0).optional().describe('MB; 512 unless given').register(formFacts, { order: 8, unit: 'MB' }),
  cpus: z.number().gt(0).optional().describe('0.1 unless given').register(formFacts, { label: 'CPUs' }),
  timeout: z
    .int()
    .gt(0)
    .optional()
    .describe('Seconds; 30 unless given')
    .register(formFacts, { label: 'Time-out', order: 9, unit: 's' }),
  env: envMap
    .optional()
    .describe('Environment variables; they go before those of what is above')
    .register(formFacts, { label: ENV_LABEL, order: 10 }),
  headers: stringMap.optional().describe('Accept: content type of the answer'),
  pre_warm: z.int().min(0).optional().describe('Processes kept ready'),
  isolate: z.boolean().optional().describe('A fresh process per invocation'),
  secrets: secretMounts('env', 'file').optional().register(formFacts, { order: 11 }),
  gpu_support: z.looseObject({}).optional().describe('Stored only'),
  periodic_info: periodicInfo
    .optional()
    .describe('Runs by the clock where the setting lambdas.periodic is on')
    .register(formFacts, { label: 'Runs by the clock' }),
});

const FIRST_CODE = `exports.run = (event, context, callback) => {
  callback(null, 'Hello from ' + JSON.parse(context).lambdaName);
};
`;

/** D-056, D-057. */
export const lambda: ResourceType = {
  name: LAMBDA,
  word: 'lambdas',
  noun: 'lambda',
  summary: 'A function that runs on demand, inline source or a package.',
  parents: ['orgs', 'workspaces', 'environments'],
  verbs: ['migrate', 'promote', 'invoke', 'import'],
  properties,
  first: { runtime: 'nodejs', code_type: 'inline', handler: 'run', code: FIRST_CODE },
  // The second is what a failed move leaves (D-134).
  serverSet: ['status', 'status_detail'],

  admit(draft, context) {
    const { limits, parent, view } = context;
    const sent = typed(properties, draft);
    if (sent.code_type.toLowerCase() === 'package') {
      if (sent.package_url === undefined) throw invalid('/properties/package_url', 'is required for code_type package');
    } else if (!sent.code) {
      throw invalid('/properties/code', `is required for code_type ${sent.code_type}`);
    }
    if (sent.timeout !== undefined && sent.timeout > limits.maxLambdaTimeoutS) {
      throw invalid('/properties/timeout', `must be at most ${limits.maxLambdaTimeoutS} seconds`);
    }
    const provider = newlyNamedProvider(draft, context);
    if (provider && !isLambdaProvider(provider.type)) {
      throw new PlatformError(400, `provider '${provider.name}' is not a Lambda provider: it is a ${provider.type}`);
    }
    if (provider) demandFit(view, provider, parent);
    // Below the lambda's own folder.
    demandMounts(draft, context, { mayBeRelative: true });
    return { properties: draft.properties };
  },
  promoted: ['code', 'code_type', 'package_url', 'compressed', 'handler', 'runtime', 'env', 'secrets'],
  embed: { apiendpoints: endpointsOf, provider: embeddedProvider },
};
