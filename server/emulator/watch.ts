import { randomUUID } from 'node:crypto';
import type { ContainerNews } from '../containers/container-service.ts';
import { Arrivals } from '../http/arrivals.ts';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import type { Uuid } from '../model/ids.ts';
import type { PipelineDeployment, PipelineRun } from '../model/pipeline-run.ts';
import { LEADS } from '../standins/lead-routes.ts';
import { EndpointActivity } from '../traffic/endpoint-activity.ts';
import type { Happenings } from '../traffic/happenings.ts';
import { Pulse } from '../traffic/pulse.ts';
import type { Recorder } from '../traffic/recorder.ts';
import { LiveFeed } from '../window/live-feed.ts';

/**
 * What watches the platform, for the window and for those who wait. Whatever happens is told here once; here it is decided who
 * hears of it: `arrivals` wakes requests that wait, `recorder` keeps what ran, `pulse` counts it, `feed` tells the open windows.
 */
export class Watch {
  readonly arrivals = new Arrivals();
  readonly feed = new LiveFeed(randomUUID().slice(0, 8));
  readonly recorder: Recorder;
  readonly pulse: Pulse;
  readonly happenings: Happenings;
  readonly endpoints = new EndpointActivity();
  readonly #exchangeHearers: ((exchange: ExchangeRecord) => void)[] = [];

  constructor(nowMs: () => number, { recorder, happenings }: { recorder: Recorder; happenings: Happenings }) {
    this.recorder = recorder;
    this.pulse = new Pulse(nowMs);
    this.happenings = happenings;
    // They stand among what was changed.
    happenings.onNews = () => this.feed.tell('history', {});
  }

  /** Has somebody told of each request to the management API and the gateway. */
  hearExchanges(hear: (exchange: ExchangeRecord) => void): void {
    this.#exchangeHearers.push(hear);
  }

  readonly onExchange = (exchange: ExchangeRecord): void => {
    this.pulse.sawExchange(exchange, this.recorder.addExchange(exchange));
    this.endpoints.sawExchange(exchange);
    for (const hear of this.#exchangeHearers) hear(exchange);
    this.feed.tell('traffic');
  };

  readonly onScmRequest = ({ method, path, status }: { method: string; path: string; status: number }): void => {
    // A client that asks whether something is there is told no, and goes on.
    const isFault = status >= 400 && status !== 404;
    this.pulse.beat('scm', isFault ? { method, target: path, status } : undefined);
  };

  readonly onScmProject = ({ id }: { id: number }): void => this.feed.tell('pipelines', { project: id });

  readonly onLead = (): void => {
    this.arrivals.announce(LEADS);
    this.feed.tell('leads', {});
  };

  readonly onLeadsDeleted = (): void => this.feed.tell('leads', {});

  readonly onLog = (resourceId: Uuid): void => {
    this.arrivals.announce(resourceId);
    if (this.feed.viewers > 0) this.feed.tell('logs', resourceId);
  };

  readonly onBegin = (begun: Parameters<Recorder['begin']>[0]): void => {
    this.recorder.begin(begun);
    this.feed.tell('invocations');
  };

  readonly onInvocation = (...ended: Parameters<Recorder['addInvocation']>): void => {
    this.recorder.addInvocation(...ended);
    this.feed.tell('invocations');
  };

  readonly onContainerNews = (news: ContainerNews): void => {
    this.pulse.beat('containers');
    if (news.kind === 'engine') this.happenings.sawEngine(news);
    this.feed.tell(news.kind === 'engine' ? 'status' : 'containers', { ...news });
  };

  readonly onCommit = ({ seq }: { seq: number }): void => {
    this.feed.tell('world', { seq });
    this.feed.tell('history', { seq });
  };

  readonly onWorkbench = (): void => this.feed.tell('workbench', {});

  readonly onOutboundRules = (...rules: Parameters<Happenings['sawRules']>): void => {
    this.happenings.sawRules(...rules);
    this.feed.tell('outbound', {});
  };

  readonly onDeployment = (run: PipelineRun, deployment: PipelineDeployment): void => {
    this.happenings.sawDeployment({ project: run.project.path, branch: run.branch, deployment });
  };

  readonly onPipelineRun = ({ id, state }: { id: string; state: string }): void => {
    this.feed.tell('pipelines', { id, state });
  };

  stop(): void {
    this.arrivals.stop();
    this.feed.stop();
  }
}
