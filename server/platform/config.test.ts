import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigSources, completeOptions, readConfig, UserError } from './config.ts';
import { IN_MEMORY, settings } from './config-schema.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium config '));
});
afterEach(() => rmSync(folder, { recursive: true }));

const inFile = (content: unknown) => writeFileSync(join(folder, 'terrarium.json'), JSON.stringify(content));
const read = (sources: Partial<ConfigSources> = {}) => readConfig({ flags: {}, env: {}, folder, ...sources });
function complaintOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the value of a setting', () => {
  it('is the default if no source sets it', () => {
    const { config, origins } = read();
    expect(config).toMatchObject({
      headless: false,
      basePort: 4700,
      gatewayPort: 4701,
      host: '127.0.0.1',
      data: join(folder, '.terrarium'),
      seed: 'demo',
      typePrefix: 'Platform',
      fsync: 'batch',
      outbound: { crm: 'catch' },
      limits: { maxInstances: 16, maxLambdaTimeoutS: 500 },
    });
    expect([...new Set(origins.values())]).toEqual(['default']);
  });

  it('comes from the flag, else the environment, else terrarium.json, else the default', () => {
    inFile({ basePort: 1, gatewayPort: 2, crmPort: 3, limits: { logLines: 4, lambdaQueue: 5 } });
    const { config, origins } = read({
      flags: { basePort: '11' },
      env: { TERRARIUM_BASE_PORT: '21', TERRARIUM_GATEWAY_PORT: '22', TERRARIUM_LIMITS_LOG_LINES: '24' },
    });
    expect(config).toMatchObject({ basePort: 11, gatewayPort: 22, crmPort: 3, typePrefix: 'Platform' });
    expect(config.limits).toMatchObject({ logLines: 24, lambdaQueue: 5, maxInstances: 16 });
    expect(['basePort', 'gatewayPort', 'crmPort', 'limits.logLines', 'host'].map((key) => origins.get(key))).toEqual([
      '--base-port',
      'TERRARIUM_GATEWAY_PORT',
      'terrarium.json',
      'TERRARIUM_LIMITS_LOG_LINES',
      'default',
    ]);
  });

  it('is not taken from an empty variable, which CI systems set for missing values', () => {
    const { config, origins } = read({ env: { TERRARIUM_SEED: '' } });
    expect([config.seed, origins.get('seed')]).toEqual(['demo', 'default']);
  });

  it('has a flag, a variable and a key of the same name for every setting', () => {
    const { flag, env } = settings.find(({ key }) => key === 'limits.tokenRequestsPerMinute') ?? {};
    expect([flag, env]).toEqual(['--limits-token-requests-per-minute', 'TERRARIUM_LIMITS_TOKEN_REQUESTS_PER_MINUTE']);
    expect(new Set(settings.map((setting) => setting.flag)).size).toBe(settings.length);
  });

  it('is parsed from flags and variables as a number, switch or list', () => {
    const { config } = read({
      flags: { corsOrigins: 'https://a.example, http://b.example:8080' },
      env: { TERRARIUM_HEADLESS: 'true', TERRARIUM_ALLOWED_HOSTS: 'Box.local' },
    });
    expect(config.corsOrigins).toEqual(['https://a.example', 'http://b.example:8080']);
    expect([config.headless, config.allowedHosts]).toEqual([true, ['box.local']]);
  });

  it('is read from a terrarium.json with a byte order mark', () => {
    writeFileSync(join(folder, 'terrarium.json'), '\uFEFF{"basePort": 5000}');
    expect(read().config.basePort).toBe(5000);
  });

  it('is an absolute path, resolved from the folder of terrarium.json', () => {
    inFile({ data: 'world', seed: 'seeds/one.yaml', readyFile: 'ready.json', allowedHostPaths: ['share'] });
    const { config } = read();
    expect(config.data).toBe(join(folder, 'world'));
    expect(config.seed).toBe(join(folder, 'seeds', 'one.yaml'));
    expect(config.readyFile).toBe(join(folder, 'ready.json'));
    expect(config.allowedHostPaths).toEqual([join(folder, 'share')]);
  });

  it('comes from the project folder if it is in terrarium.json, and from the working folder if it is a flag', () => {
    inFile({ data: 'world', seed: 'one.yaml' });
    const deep = join(folder, 'lambda', 'deep');
    const { config } = readConfig({ flags: { seed: 'two.yaml' }, env: {}, folder: deep, project: folder });
    expect([config.data, config.seed]).toEqual([join(folder, 'world'), join(deep, 'two.yaml')]);
  });

  it('is a public address without the trailing slash', () => {
    expect(read({ flags: { publicBaseUrl: 'https://box.example/terrarium/' } }).config.publicBaseUrl).toBe(
      'https://box.example/terrarium',
    );
  });
});

describe('an invalid setting', () => {
  it.each<[string, Partial<ConfigSources>, unknown, string]>([
    ['a flag', { flags: { basePort: '99999' } }, {}, '--base-port is 99999; it must be a port number from 0 to 65535'],
    ['a variable', { env: { TERRARIUM_BASE_PORT: 'http' } }, {}, 'TERRARIUM_BASE_PORT is "http"; it must be a port'],
    ['a key', {}, { basePort: '4700' }, 'basePort in terrarium.json is "4700"; it must be a port'],
    ['a nested key', {}, { limits: { logLines: 0 } }, 'limits.logLines in terrarium.json is 0; it must be a whole'],
    ['a group', {}, { limits: 5 }, 'limits in terrarium.json must be an object of settings'],
    ['a group beside a flag', { flags: { 'limits.logLines': '1' } }, { limits: 5 }, 'limits in terrarium.json must'],
    ['null', {}, { host: null }, 'host in terrarium.json is null; it must be'],
    ['a switch', { env: { TERRARIUM_HEADLESS: 'yes' } }, {}, 'TERRARIUM_HEADLESS is "yes"; it must be true or false'],
    [
      'a list',
      { flags: { corsOrigins: 'https://a.example/path' } },
      {},
      '--cors-origins is ["https://a.example/path"]',
    ],
    ['an address', { flags: { publicBaseUrl: 'ftp://a' } }, {}, '--public-base-url is "ftp://a"; it must be an http'],
    [
      'an unknown key',
      {},
      { baseport: 1 },
      'baseport in terrarium.json is not a setting. For all settings, see `npx terrarium-emulator config`',
    ],
    ['a nested unknown key', {}, { limits: { lines: 1 } }, 'limits.lines in terrarium.json is not a setting'],
    ['a polluting key', {}, JSON.parse('{"constructor": 1}'), 'constructor in terrarium.json is not a setting'],
  ])('is reported with its value and its origin: %s', (_what, sources, file, sentence) => {
    inFile(file);
    expect(complaintOf(() => read(sources))).toMatch(new RegExp(`^${sentence.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
  });

  it('is not printed if it is a secret', () => {
    const complaint = complaintOf(() => completeOptions({ rootPassword: ['hunter2'] as unknown as string }));
    expect(complaint).toBe('option rootPassword must be a non-empty text');
  });

  it('does not hide other invalid settings', () => {
    inFile({ basePort: -1, host: '', typo: true });
    expect(complaintOf(read).split('\n')).toHaveLength(3);
  });

  it('can be a terrarium.json that is not JSON or not an object', () => {
    writeFileSync(join(folder, 'terrarium.json'), '{"basePort": }');
    expect(complaintOf(read)).toContain(`${join(folder, 'terrarium.json')} is not valid JSON`);
    inFile([]);
    expect(complaintOf(read)).toContain('is not a JSON object');
  });

  it('can be a key without its secret, or equal ports', () => {
    expect(complaintOf(() => read({ env: { TERRARIUM_ROOT_API_KEY: 'k' } }))).toBe(
      'TERRARIUM_ROOT_API_KEY is set but rootApiSecret is not. Set both or neither.',
    );
    expect(complaintOf(() => read({ flags: { basePort: '4701' } }))).toContain('must differ');
  });
});

describe('an address that other machines reach', () => {
  it.each(['0.0.0.0', '192.168.1.20', '::', 'box.local', '127.evil.example'])(
    'requires a root password: %s',
    (host) => {
      const complaint = complaintOf(() => read({ flags: { host } }));
      expect(complaint).toContain(`--host is '${host}'`);
      expect(complaint).toContain('--root-password');
      expect(complaintOf(() => read({ flags: { host, rootPassword: 'terrarium' } }))).toBe(complaint);
      expect(read({ flags: { host, rootPassword: 'another' } }).config.host).toBe(host);
    },
  );

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('does not include loopback: %s', (host) => {
    expect(read({ flags: { host } }).config.rootPassword).toBeUndefined();
  });
});

describe('a platform started by code', () => {
  it('is in memory and on free ports by default, and ignores the environment', () => {
    process.env.TERRARIUM_BASE_PORT = '1';
    try {
      expect(completeOptions({})).toMatchObject({ basePort: 0, gatewayPort: 0, data: IN_MEMORY, headless: true });
    } finally {
      delete process.env.TERRARIUM_BASE_PORT;
    }
    expect(completeOptions({ data: 'here', limits: { logLines: 7 } })).toMatchObject({
      data: resolve('here'),
      limits: { logLines: 7, lambdaQueue: 100 },
    });
  });
});
