import { applyCommand } from './apply-command.ts';
import { cleanCommand } from './clean-command.ts';
import { addCommand, type CommandSpec, type Runtime } from './command.ts';
import { completionCommand } from './completion-command.ts';
import { configCommand } from './config-command.ts';
import { containersCommand } from './containers-command.ts';
import { deployCommand } from './deploy-command.ts';
import { devCommand } from './dev-command.ts';
import { doctorCommand } from './doctor-command.ts';
import { execCommand } from './exec-command.ts';
import { exportCommand, importCommand } from './export-command.ts';
import { historyCommand, snapshotCommand } from './history-command.ts';
import { initCommand } from './init-command.ts';
import { connect } from './instance-options.ts';
import { invokeCommand, logsCommand, scheduleCommand } from './lambda-commands.ts';
import { leadsCommand } from './leads-command.ts';
import { mailsCommand } from './mails-command.ts';
import { mcpCommand } from './mcp-command.ts';
import { outboundCommand } from './outbound-command.ts';
import { pipelineCommand } from './pipeline-command.ts';
import { pullCommand, pushCommand } from './publishing-command.ts';
import { resetCommand } from './reset-command.ts';
import { clockCommand, faultsCommand } from './simulation-commands.ts';
import { statusCommand, waitCommand } from './status-command.ts';
import { stopCommand } from './stop-command.ts';
import { tokenCommand } from './token-command.ts';
import { uiCommand } from './ui-command.ts';

/** All commands but `start`, in the order of the help. */
const COMMANDS: readonly CommandSpec[] = [
  devCommand,
  initCommand,
  execCommand,
  statusCommand,
  waitCommand,
  stopCommand,
  uiCommand,
  invokeCommand,
  scheduleCommand,
  logsCommand,
  containersCommand,
  leadsCommand,
  mailsCommand,
  outboundCommand,
  faultsCommand,
  clockCommand,
  pipelineCommand,
  mcpCommand,
  tokenCommand,
  deployCommand,
  applyCommand,
  exportCommand,
  importCommand,
  pullCommand,
  pushCommand,
  historyCommand,
  snapshotCommand,
  resetCommand,
  cleanCommand,
  configCommand,
  doctorCommand,
  completionCommand,
];

export function addOtherCommands(runtime: Omit<Runtime, 'connect'>): void {
  for (const command of COMMANDS) addCommand(runtime.program, command, { ...runtime, connect });
}
