import { z } from 'zod';
import { invalid } from '../errors.ts';
import { periodicInfo } from '../period.ts';
import { formFacts } from '../property-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import { requireMounts, secretMounts } from './mounts.ts';
import { embeddedProvider, endpointsOf, isLambdaProvider, requireProvider } from './provider-rules.ts';
import { caseInsensitiveEnum, ENV_LABEL, EXAMPLE_ID, envMap, runBy, stringMap, typed } from './schema-parts.ts';

export const LAMBDA = 'Resource::Node::Lambda';

const ofPackage = { property: 'code_type', is: ['package'] };

/** Clients reject responses with headers of more than 8 or 16 KiB. */
export const MAX_ACCEPT_CHARACTERS = 4096;

/** The Accept header, in any letter case, becomes the content type of responses (D-137). */
const responseHeaders = stringMap
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      if (name.toLowerCase() !== 'accept') continue;
      if (value.length <= MAX_ACCEPT_CHARACTERS && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
      const message = `must be a header value of at most ${MAX_ACCEPT_CHARACTERS} characters`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  })
  .describe('Accept header: content type of the response');

export const lambdaProperties = z.strictObject({
  provider: runBy('Lambda').register(formFacts, { order: 1 }),
  runtime: z
    .string()
    .min(1)
    .describe(
      'nodejs, with or without a version, for JavaScript or TypeScript; lambdas with any other runtime are stored but cannot run',
    )
    .register(formFacts, { order: 2 }),
  code_type: caseInsensitiveEnum(['code', 'inline', 'package'])
    .describe('inline or code: the source is part of the record; package: the source is downloaded from package_url')
    .register(formFacts, { label: 'Source of the code', order: 3 }),
  code: z
    .string()
    .optional()
    .describe('Source code, plain or in base64; required unless code_type is package')
    .register(formFacts, {
      order: 4,
      kind: 'code',
      when: { property: 'code_type', is: ['inline', 'code'], isRequired: true },
    }),
  package_url: z
    .string()
    .regex(/^(https?|file):\/\//, 'must be an http, https or file URL')
    .optional()
    .describe('Address of the package; required for code_type package')
    .register(formFacts, { label: 'Package address', order: 5, when: { ...ofPackage, isRequired: true } }),
  compressed: z
    .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
    .optional()
    .describe('The package is a ZIP archive and not a single file')
    .register(formFacts, { order: 6, when: ofPackage }),
  handler: z
    .string()
    .min(1)
    .describe('Exported function, for example run; in a package file.function')
    .register(formFacts, { order: 7 }),
  public: z
    .boolean()
    .optional()
    .meta({ default: true, description: 'Can be called without credentials (default: true)' }),
  memory: z.int().gt(0).optional().describe('MB (default: 512)').register(formFacts, { order: 8, unit: 'MB' }),
  cpus: z.number().gt(0).optional().describe('CPU cores (default: 0.1)').register(formFacts, { label: 'CPUs' }),
  timeout: z
    .int()
    .gt(0)
    .optional()
    .describe('Seconds (default: 30); at most the setting limits.maxLambdaTimeoutS')
    .register(formFacts, { label: 'Timeout', order: 9, unit: 's' }),
  env: envMap
    .optional()
    .describe('Environment variables; they take precedence over inherited variables')
    .register(formFacts, { label: ENV_LABEL, order: 10 }),
  headers: responseHeaders.optional(),
  pre_warm: z.int().min(0).optional().describe('Number of processes that are kept ready'),
  isolate: z.boolean().optional().describe('Use a new process for every invocation'),
  secrets: secretMounts('env', 'file').optional().register(formFacts, { order: 11 }),
  gpu_support: z.looseObject({}).optional().describe('Stored only'),
  periodic_info: periodicInfo
    .optional()
    .describe('Schedule, either cron or interval_seconds; requires the setting lambdas.periodic')
    .register(formFacts, { label: 'Schedule' }),
});

const FIRST_CODE = `exports.run = (event, context, callback) => {
  callback(null, 'Hello from ' + JSON.parse(context).lambdaName);
};
`;

/** D-056, D-057. */
export const lambda: ResourceType = {
  name: LAMBDA,
  collection: 'lambdas',
  singular: 'lambda',
  summary: 'A function that runs on demand, inline source or a package.',
  parents: ['orgs', 'workspaces', 'environments'],
  verbs: ['migrate', 'promote', 'invoke', 'import'],
  properties: lambdaProperties,
  first: { runtime: 'nodejs', code_type: 'inline', handler: 'run', code: FIRST_CODE },
  // A failed move leaves the second value (D-134).
  example: {
    name: 'hello',
    properties: {
      provider: { id: EXAMPLE_ID },
      runtime: 'nodejs',
      code_type: 'inline',
      code: "exports.run = (event, context, callback) => callback(null, 'hello');",
      handler: 'run',
    },
  },
  serverSet: ['status', 'status_detail'],

  validate(draft, context) {
    const { limits } = context;
    const input = typed(lambdaProperties, draft);
    if (input.code_type.toLowerCase() === 'package') {
      if (input.package_url === undefined)
        throw invalid('/properties/package_url', 'is required for code_type package');
    } else if (!input.code) {
      throw invalid('/properties/code', `is required for code_type ${input.code_type}`);
    }
    if (input.timeout !== undefined && input.timeout > limits.maxLambdaTimeoutS) {
      throw invalid('/properties/timeout', `must be at most ${limits.maxLambdaTimeoutS} seconds`);
    }
    requireProvider(draft, context, 'a Lambda provider', isLambdaProvider);
    // Relative to the folder of the lambda.
    requireMounts(draft, context, { mayBeRelative: true });
    return { properties: draft.properties };
  },
  promoted: ['code', 'code_type', 'package_url', 'compressed', 'handler', 'runtime', 'env', 'secrets'],
  embed: { apiendpoints: endpointsOf, provider: embeddedProvider },
};
