// The floors of the house: who may import whom. `npm run check` holds the code to it (scripts/check-floors.mjs).
// What a room needs from one that is not in its row is an interface in its own folder or in model, handed in by emulator.ts.

const rooms = {
  model: [],
  machine: [],
  contract: ['model'],
  http: ['model', 'contract'],
  store: ['model', 'machine'],
  seed: ['model', 'contract', 'http', 'store', 'security', 'resources', 'standins'],
  lambdas: ['model', 'machine'],
  containers: ['model', 'machine'],
  pipelines: ['model', 'machine', 'contract'],
  gateway: ['model', 'contract', 'http'],
  standins: ['model', 'machine', 'contract', 'http'],
  security: ['model', 'contract', 'http', 'store'],
  history: ['model', 'contract', 'http', 'store'],
  traffic: ['model', 'contract', 'http', 'store', 'history'],
  logs: ['model', 'contract', 'http', 'store', 'traffic'],
  access: ['model', 'contract', 'http', 'security'],
  workbench: ['model', 'contract', 'http', 'store', 'containers', 'resources'],
  delivery: ['model', 'contract', 'http', 'store', 'pipelines', 'standins'],
  window: ['model', 'contract', 'http', 'access'],
  publishing: ['model', 'contract', 'http'],
  resources: ['model', 'contract', 'http', 'store', 'security'],
  openapi: ['model', 'contract'],
};

/** Paths of rooms below server/, or of the files at its top that begin with these words. */
const paths = (names) => names.map((name) => `^server/${name}(/|[-.][^/]*$)`);
/** Tests, and what tests share. */
const TEST = '([.](test|spec)|-for-tests)[.]ts$';
/** The running platform, and what tests speak to it with. */
const WHOLE_HOUSE = ['^server/emulator[.]ts$', '^e2e/'];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(rooms).map(([room, below]) => ({
      name: `floor-of-${room}`,
      comment: `server/${room} stands on ${below.join(', ') || 'nothing of ours'}`,
      severity: 'error',
      from: { path: paths([room]) },
      to: { path: '^(server|renderer|electron|e2e|bench)/', pathNot: [...paths([room, ...below]), ...WHOLE_HOUSE] },
    })),
    {
      name: 'house-in-tests-only',
      comment: 'a test of a promise that takes the whole platform may start it; the room itself does not know it',
      severity: 'error',
      from: { path: paths(Object.keys(rooms)), pathNot: TEST },
      to: { path: WHOLE_HOUSE },
    },
    {
      name: 'a-floor-for-each-room',
      comment: 'a new room needs a row in .dependency-cruiser.mjs',
      severity: 'error',
      from: { path: '^server/[^/]+/', pathNot: paths([...Object.keys(rooms), 'cli', 'emulator', 'library']) },
      to: {},
    },
    {
      name: 'floor-of-config',
      comment: 'the configuration knows none of the rooms; only emulator and cli know it',
      severity: 'error',
      from: { path: paths(['config']) },
      to: { path: '^server/', pathNot: paths(['config']) },
    },
    {
      name: 'floor-of-cli',
      comment:
        'the command line is thin: it stands on the emulator, its configuration, pipelines, the contract and the model; it finds files of the package',
      severity: 'error',
      from: { path: paths(['cli']) },
      to: {
        path: '^(server|renderer|electron|e2e|bench)/',
        pathNot: paths(['cli', 'emulator', 'config', 'pipelines', 'model', 'machine', 'contract', 'package-file']),
      },
    },
    {
      name: 'floor-of-library',
      comment:
        'the library is thin, too: what it asks of the platform it asks over HTTP, and it names the errors of the rooms',
      severity: 'error',
      from: { path: paths(['library']), pathNot: TEST },
      to: {
        path: '^(server|renderer|electron|e2e|bench)/',
        pathNot: [
          ...paths(['library', 'emulator', 'config', 'model', 'contract']),
          '^server/seed/seed-error[.]ts$',
          '^server/store/store-error[.]ts$',
        ],
      },
    },
    {
      name: 'floor-of-emulator',
      comment:
        'emulator.ts and its folder wire the rooms; nothing above them is theirs to know but what the library promises, which they keep',
      severity: 'error',
      from: { path: ['^server/[^/]+$', '^server/emulator/'], pathNot: [...paths(['cli', 'config', 'library']), TEST] },
      to: {
        path: ['^(renderer|electron|e2e|bench)/', ...paths(['cli', 'library'])],
        pathNot: '^server/library/api[.]ts$',
      },
    },
    {
      name: 'floor-of-electron',
      comment: 'the desktop shell starts the command line and knows nothing of the platform',
      severity: 'error',
      from: { path: '^electron/' },
      to: { path: '^(server|renderer)/', pathNot: paths(['cli']) },
    },
    {
      name: 'floor-of-renderer',
      comment: 'the window shares the words of the model and the rows of the contract with the server, nothing else',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^(server|electron)/', pathNot: paths(['model', 'contract']) },
    },
    {
      name: 'model-is-pure',
      comment: 'no HTTP, no disk, no process, no clock of its own',
      severity: 'error',
      from: { path: paths(['model']), pathNot: TEST },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?util$' },
    },
    {
      name: 'no-circles',
      comment: 'two files that need each other are one, or need a third',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'nobody imports it and it imports nobody',
      severity: 'error',
      from: { orphan: true, path: '^(server|electron|renderer)/', pathNot: TEST },
      to: {},
    },
    {
      name: 'tests-are-leaves',
      comment: 'what two tests share, or a test and a benchmark, stands in a file of its own',
      severity: 'error',
      from: { pathNot: [TEST, '^bench/'] },
      to: { path: TEST },
    },
    {
      name: 'resolvable',
      comment: 'the file or package does not exist',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // Types count: a room that knows another's types stands on it.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['types', 'import', 'node', 'default'] },
  },
};
