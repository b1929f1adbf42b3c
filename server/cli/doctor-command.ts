import { type ConfigWithOrigins, UserError } from '../platform/config.ts';
import { windowSettings } from './choose-window.ts';
import { defineCommand, flag, json } from './command.ts';
import { configOf, selectionOf, settingOptions } from './config-options.ts';
import { ExitWith, NO } from './describe-failure.ts';
import {
  type Check,
  checkDataFolder,
  checkDiskSpace,
  checkEngine,
  checkNode,
  checkPorts,
  checkTemporaryFolder,
  checkTools,
} from './doctor-checks.ts';
import { findTarget, type Target } from './instance-options.ts';
import { offlineNeeds } from './offline-needs.ts';
import { rowLines, styled, type Terminal } from './terminal.ts';

const NOTES = `
Exit codes: 0 all required checks passed (with --offline: nothing is missing); 1 a required check failed (something is missing);
2 a setting is invalid.`;

export const doctorCommand = defineCommand({
  name: 'doctor',
  description: 'check whether the platform can run on this machine with these settings; takes the options of start',
  options: {
    isOffline: flag('--offline', 'list what an offline demo needs, and whether it is on this machine'),
    isFetching: flag('--fetch', 'with --offline: download what is missing'),
    json: json('print JSON: {ok, checks: [{name, ok, isNeeded, message}]}'),
    ...settingOptions,
  },
  notes: NOTES,
  async run({ options, terminal, print }) {
    const { isOffline, isFetching } = options;
    const configured = configOf(options, terminal);
    if (isFetching && !isOffline)
      throw new UserError('--fetch requires --offline. It downloads what an offline demo needs.');
    const checks = isOffline
      ? await offlineChecks(configured, () => findTarget(selectionOf(options), terminal), terminal, isFetching)
      : await machineChecks(configured, terminal);
    // Without all that it lists, an offline demo fails.
    const ok = checks.every((check) => check.ok || !(isOffline || check.isNeeded));
    print({ ok, checks }, linesOf(checks, terminal));
    if (!ok) throw new ExitWith(NO);
  },
});

async function machineChecks(configured: ConfigWithOrigins, terminal: Terminal): Promise<Check[]> {
  const { config } = configured;
  const found = await Promise.all([
    checkNode({ ...terminal.env }),
    checkPorts(config),
    checkDataFolder(config),
    checkDiskSpace(config),
    checkTemporaryFolder(config),
    checkEngine(config, { ...terminal.env }),
    checkTools(terminal, windowSettings(configured)),
  ]);
  return found.flat();
}

/** Checks what an offline demo needs, after downloading what is missing if `isFetching`. */
async function offlineChecks(
  configured: ConfigWithOrigins,
  findPlatform: () => Promise<Target>,
  terminal: Terminal,
  isFetching: boolean,
): Promise<Check[]> {
  const context = { config: configured.config, terminal, settings: windowSettings(configured), findPlatform };
  const failures = new Map<string, string>();
  if (isFetching) {
    for (const { message, fetch } of await offlineNeeds(context)) {
      if (!fetch) continue;
      terminal.complain(`fetching: ${message}`);
      await fetch().catch((failure: Error) => failures.set(message, failure.message));
    }
  }
  return (await offlineNeeds(context)).map((need) => {
    const failure = failures.get(need.message);
    const how = failure ? ` (download failed: ${failure})` : need.fetch ? ' (--fetch downloads it)' : '';
    return { ...need, message: `${need.message}${how}` };
  });
}

function linesOf(checks: readonly Check[], terminal: Terminal): string[] {
  const rows = rowLines(checks.map(({ name, message }) => [name, message]));
  return checks.map(({ ok, isNeeded }, index) => {
    const verdict = ok ? 'ok' : isNeeded ? 'fails' : 'missing';
    return `${styled(terminal, ok ? 'green' : 'bold', verdict.padEnd(7))}  ${rows[index]}`;
  });
}
