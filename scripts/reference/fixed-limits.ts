import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../read-docs.ts';
import { amount, table } from './markdown.ts';

/** Subject; then each limit, and the constant with its value: file below `server/`, and name. */
const LIMITS: Readonly<Record<string, readonly (readonly [limit: string, file: string, name: string])[]>> = {
  Requests: [
    ['nesting of JSON (levels)', 'model/json.ts', 'MAX_JSON_DEPTH'],
    ['values in a JSON body', 'model/json.ts', 'MAX_JSON_VALUES'],
    ['tokens of a YAML document', 'model/yaml-faults.ts', 'MAX_TOKENS'],
    ['aliases in a YAML document', 'model/yaml-faults.ts', 'MAX_ALIASES'],
    ['one resource', 'model/patch/patch.ts', 'MAX_RECORD_SIZE'],
    ['name of a resource (characters)', 'model/envelope.ts', 'MAX_NAME'],
    ['headers of a request to the control plane', 'platform/control-plane.ts', 'MAX_HEADERS_BYTES'],
    ['headers of a request to the gateway', 'gateway/gateway.ts', 'MAX_HEADERS_BYTES'],
    ['bodies that one listener receives at a time', 'api/server/bytes-in-flight.ts', 'DEFAULT_MAX_BYTES'],
    ['file that a world file names', 'services/seeds/seed-document.ts', 'MAX_FILE_BYTES'],
    ['snapshots', 'storage/world/named-snapshots.ts', 'MAX_SNAPSHOTS'],
    ['archive of an instance', 'services/history/snapshot-routes.ts', 'MAX_ARCHIVE_BYTES'],
    ['terms of a query in the window', 'model/query-language.ts', 'MAX_TERMS'],
    ['invocations of one replay', 'api/routes/recorded.ts', 'MAX_REPLAYS'],
  ],
  Gateway: [
    ['time until a container must respond', 'gateway/container-proxy.ts', 'ANSWER_TIMEOUT_MS'],
    ['time to connect to a port of a service', 'gateway/service-ports.ts', 'CONNECT_TIMEOUT_MS'],
    ['headers of a response from a container', 'gateway/instance-call.ts', 'MAX_HEADERS_BYTES'],
    ['time for requests to end when the platform stops', 'api/server/listening.ts', 'DRAIN_MS'],
  ],
  Lambdas: [
    ['package', 'runtimes/lambdas/code/package-store.ts', 'MAX_PACKAGE_BYTES'],
    ['unpacked package', 'runtimes/lambdas/code/unzip.ts', 'MAX_UNPACKED_BYTES'],
    ['files in a package', 'runtimes/lambdas/code/unzip.ts', 'MAX_ENTRIES'],
    ['time to load the code', 'runtimes/lambdas/process/lambda-process.ts', 'LOAD_TIMEOUT_MS'],
    [
      'line of a log (characters; longer lines are split)',
      'runtimes/lambdas/process/in-flight-calls.ts',
      'LONGEST_LINE',
    ],
    ['logs of all lambdas in memory', 'runtimes/lambdas/log-rings.ts', 'BUDGET_BYTES'],
    ['log of one lambda or container in memory', 'model/newest-lines.ts', 'LIMIT_BYTES'],
    ['lambdas that are debugged at a time', 'runtimes/lambdas/process/debugging.ts', 'MAX_AT_ONCE'],
    ['longest period of a scheduled lambda', 'model/period.ts', 'MAX_INTERVAL_S'],
    ['saved test events of a lambda', 'api/routes/workbench.ts', 'MAX_EVENTS'],
    ['outbound rules', 'model/outbound-rules-request.ts', 'MAX_OUTBOUND_RULES'],
    ['delay of an outbound rule', 'model/outbound-rules-request.ts', 'MAX_DELAY_MS'],
    ['fault rules', 'model/fault-rule.ts', 'MAX_FAULT_RULES'],
    ['delay of a fault rule', 'model/fault-rule.ts', 'MAX_DELAY_MS'],
    ['days by which the clock can be ahead', 'inspector/devtools/simulation-routes.ts', 'MAX_AHEAD_DAYS'],
    ['form that the mock CRM accepts', 'mocks/crm/read-lead-form.ts', 'MAX_FORM_BYTES'],
    ['recorded part of a body', 'model/exchange-record.ts', 'MAX_CAPTURED_BYTES'],
  ],
  'Sign-in': [
    ['sign-in code of the window', 'services/security/window-sessions.ts', 'CODE_LIFETIME_MS'],
    ['sessions of the window at a time', 'services/security/window-sessions.ts', 'MAX_SESSIONS'],
  ],
  Containers: [
    ['open terminals', 'inspector/devtools/terminals.ts', 'MAX_OPEN'],
    ['open terminals of one user', 'inspector/devtools/terminals.ts', 'MAX_OF_ONE_USER'],
    [
      'log lines of ended instances of a container, until the platform stops',
      'runtimes/containers/docker/instance-logs.ts',
      'ENDED_LINES',
    ],
    ['times of a health check', 'model/types/container-definition.ts', 'MAX_CHECK_S'],
    ['time without progress of an image pull', 'runtimes/containers/docker/docker-connection.ts', 'PULL_LIMIT_MS'],
  ],
  Pipelines: [
    ['definition, with includes (characters)', 'runtimes/pipelines/definition.ts', 'MAX_FILE_CHARACTERS'],
    ['definition after `extends`', 'runtimes/pipelines/definition.ts', 'MAX_EXPANDED_BYTES'],
    ['regular expression (characters)', 'runtimes/pipelines/pattern.ts', 'MAX_PATTERN_CHARACTERS'],
    ['`after_script`', 'runtimes/pipelines/job-script.ts', 'AFTER_LIMIT_S'],
    ['artifacts and caches that no run uses are kept', 'runtimes/pipelines/run-folder.ts', 'KEPT_MS'],
    ['recorded log of a job (lines)', 'inspector/devtools/pipeline-runs.ts', 'MAX_LOG_LINES'],
  ],
};

/** The limits that no setting changes, a table a subject. */
export function fixedLimits(): string {
  return Object.entries(LIMITS)
    .map(([subject, limits]) => {
      const rows = limits.map(([limit, file, name]) => [limit, formatLimit(constant(file, name), name)]);
      return `### ${subject}\n\n${table(['limit', 'value'], rows)}`;
    })
    .join('\n\n');
}

/** The value of a constant as the source has it: a number, or a product of numbers. */
function constant(file: string, name: string): number {
  const source = readFileSync(join(root, 'server', file), 'utf8');
  const [, value] = new RegExp(`^(?:export )?const ${name} = ([\\d_]+(?: \\*\\*? [\\d_]+)*);`, 'm').exec(source) ?? [];
  if (value === undefined) {
    throw new Error(`server/${file} has no constant ${name} with a number: correct its row in fixed-limits.ts`);
  }
  return value
    .replaceAll('_', '')
    .split(' * ')
    .map((factor) => factor.split(' ** ').map(Number))
    .reduce((product, [base = 1, exponent = 1]) => product * base ** exponent, 1);
}

function formatLimit(value: number, name: string): string {
  if (name.endsWith('_MS')) return duration(value / 1000);
  if (name.endsWith('_S')) return duration(value);
  if (name.endsWith('_BYTES') && value % 1_000_000 === 0) return `${value / 1_000_000} MB`;
  return amount(value, name.endsWith('_SIZE') ? 'bytes' : name);
}

/** A time in its largest whole unit: `10 minutes`. */
function duration(seconds: number): string {
  const [unit, size] = DURATIONS.find(([, length]) => seconds >= 2 * length && seconds % length === 0) ?? [
    'seconds',
    1,
  ];
  return `${seconds / size} ${unit}`;
}

const DURATIONS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
] as const;
