// Which file may import which. `npm run check` applies it (scripts/check-layers.mjs).
// What a layer needs from a higher one is an interface in its own folder or in model, and is handed in by server/platform.

/** The folders of server/, lowest first: each imports itself and what is before it. */
const layers = [
  'system',
  'model',
  'storage',
  'api',
  'plugin',
  'mocks',
  'gateway',
  'services',
  'runtimes',
  'inspector',
  'platform',
  'library',
  'cli',
];
/** The order inside a layer that has folders; folders of one row do not import each other. */
const insideOf = {
  storage: [['files'], ['records', 'world']],
  api: [['schemas'], ['routes'], ['client', 'server', 'openapi'], ['mcp']],
  mocks: [['crm', 'scm']],
  services: [['security'], ['resources'], ['history', 'seeds', 'publish']],
  runtimes: [['lambdas', 'containers'], ['pipelines']],
  inspector: [['recorder', 'live', 'devtools']],
};

const below = (folder, names) => names.map((name) => `^server/${folder}${name}/`);
const TEST = '([.](test|spec)[.]tsx?$|^(server|electron|renderer)/testing/)';
/** The files that tests of every layer may start: the whole platform. */
const WHOLE_PLATFORM = '^server/platform/emulator[.]ts$';
const OUTSIDE = '^(server|renderer|electron|e2e|bench)/';

function layerRules() {
  return layers.map((layer, index) => ({
    name: `layer-${layer}`,
    comment: `server/${layer} imports ${layers.slice(0, index).join(', ') || 'no other layer'}; move the file to the layer that it needs, or take an interface from model and let server/platform hand it in`,
    severity: 'error',
    from: { path: `^server/${layer}/` },
    to: {
      path: OUTSIDE,
      pathNot: [...below('', layers.slice(0, index + 1)), WHOLE_PLATFORM, '^server/testing/'],
    },
  }));
}

function insideRules() {
  return Object.entries(insideOf).flatMap(([layer, rows]) =>
    rows.flatMap((row, index) =>
      row.map((folder) => ({
        name: `layer-${layer}-${folder}`,
        comment: `inside server/${layer} the order is ${rows.map((names) => names.join(', ')).join(' < ')}; use an event, a slot or an interface in model`,
        severity: 'error',
        from: { path: `^server/${layer}/${folder}/` },
        to: {
          path: `^server/${layer}/[^/]+/`,
          pathNot: below(`${layer}/`, [folder, ...rows.slice(0, index).flat()]),
        },
      })),
    ),
  );
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules(),
    ...insideRules(),
    {
      name: 'every-file-has-a-layer',
      comment: 'put the file into the folder of a layer; a new layer needs its place in .dependency-cruiser.mjs',
      severity: 'error',
      from: { path: '^server/', pathNot: [...below('', layers), '^server/testing/'] },
      to: {},
    },
    {
      name: 'tests-are-leaves',
      comment: 'move what two tests share to server/testing; production code does not import it',
      severity: 'error',
      from: { pathNot: [TEST, '^(bench|e2e)/', '^(vitest|playwright)[.]config[.]ts$'] },
      to: { path: TEST },
    },
    {
      name: 'platform-in-tests-only',
      comment: 'only a test, the library and the command line start the whole platform; take an interface instead',
      severity: 'error',
      from: { path: '^server/', pathNot: [TEST, '^server/(platform|library|cli)/'] },
      to: { path: WHOLE_PLATFORM },
    },
    {
      name: 'configuration-alone',
      comment:
        'the configuration is read before anything starts: it imports itself, the declarations and packages only',
      severity: 'error',
      from: { path: '^server/platform/config[-.]', pathNot: TEST },
      to: {
        path: '^server/',
        pathNot: '^server/(platform/(config[-.]|declarations[.])|plugin/|model/shell-command[.])',
      },
    },
    {
      name: 'declarations-are-data',
      comment:
        'declarations are read before anything starts: besides types they import plugin and zod only, and load the rest on first use',
      severity: 'error',
      from: { path: '(/declaration|^server/platform/declarations|^server/plugin/[^/]+)[.]ts$', pathNot: TEST },
      to: {
        path: '^server/',
        pathNot: '^server/plugin/|/declaration[.]ts$',
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'clients-ask-over-http',
      comment: 'the command line and the library ask the platform over HTTP; they import its routes, not its parts',
      severity: 'error',
      from: { path: '^server/(cli|library)/', pathNot: TEST },
      to: {
        path: '^server/(storage|api/server|mocks|gateway|services|runtimes/(lambdas|containers)|inspector)/',
        pathNot: '-error[.]ts$',
      },
    },
    {
      name: 'shell-starts-the-command-line',
      comment: 'the desktop shell starts the command line, and asks the system; it imports nothing else of the server',
      severity: 'error',
      from: { path: '^electron/' },
      to: { path: '^(server|renderer)/', pathNot: '^server/(cli|system|testing)/' },
    },
    {
      name: 'window-shares-the-contract',
      comment: 'the window imports model, api/routes and api/schemas of the server; ask for the rest over HTTP',
      severity: 'error',
      from: { path: '^renderer/', pathNot: TEST },
      to: { path: '^(server|electron)/', pathNot: '^server/(model|api/(routes|schemas))/' },
    },
    {
      name: 'model-is-pure',
      comment: 'no HTTP, disk, process or clock in model; take what you need as an argument',
      severity: 'error',
      from: { path: '^server/model/', pathNot: TEST },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?util$' },
    },
    {
      name: 'no-cycles',
      comment: 'two files that need each other are one file, or need a third',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'no file imports it and it imports none; remove it',
      severity: 'error',
      from: { orphan: true, path: '^(server|electron|renderer)/', pathNot: TEST },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'the file or package does not exist; correct the path or install the package',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // Types count: a layer that knows another's types depends on it.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['types', 'import', 'node', 'default'] },
  },
};
