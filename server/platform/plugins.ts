import { gatewayPlugin as gateway } from '../gateway/plugin.ts';
import { mcpPlugin as mcp } from '../inspector/devtools/mcp-plugin.ts';
import { outboundPlugin as outbound } from '../inspector/devtools/outbound-plugin.ts';
import { pipelinesPlugin as pipelines } from '../inspector/devtools/pipelines-plugin.ts';
import { devtoolsPlugin as devtools } from '../inspector/devtools/plugin.ts';
import { recorderPlugin as recorder } from '../inspector/recorder/plugin.ts';
import { recordedPlugin as recorded } from '../inspector/recorder/recorded-plugin.ts';
import { crmPlugin as crm } from '../mocks/crm/plugin.ts';
import { smtpPlugin as smtp } from '../mocks/mail/plugin.ts';
import { scmPlugin as scm } from '../mocks/scm/plugin.ts';
import type { AnyPlugin } from '../plugin/plugin.ts';
import { containersPlugin as containers } from '../runtimes/containers/plugin.ts';
import { lambdasPlugin as lambdas } from '../runtimes/lambdas/plugin.ts';
import { historyPlugin as history } from '../services/history/plugin.ts';
import { publishPlugin as publish } from '../services/publish/plugin.ts';
import { resourcesPlugin as resources } from '../services/resources/plugin.ts';
import { securityPlugin as security } from '../services/security/plugin.ts';
import { seedsPlugin as seeds } from '../services/seeds/plugin.ts';
import type { declarations } from './declarations.ts';
import { windowPlugin as window } from './window-plugin.ts';

/** The subjects of the platform, in the order in which they start and hear of events; they stop in the opposite one. */
export const plugins = {
  crm,
  scm,
  smtp,
  recorder, // first to hear what is recorded
  lambdas,
  containers,
  security,
  gateway, // listens before records are updated with its address
  resources,
  history,
  seeds,
  publish,
  pipelines,
  outbound,
  mcp,
  devtools,
  recorded,
  window,
} satisfies Record<Exclude<keyof typeof declarations, 'base'>, AnyPlugin> & Record<string, AnyPlugin>;
