import { describeRule, type OutboundRule } from '../model/outbound-rule.ts';
import type { PipelineDeployment } from '../model/pipeline-run.ts';
import type { RecordLogs } from '../store/records/record-logs.ts';
import type { RecordRing } from '../store/records/record-ring.ts';

const MAX_TOLD = 500;
/** Enough to find the last word about an engine among the news of others. */
const MAX_LOOKED = 2_000;

/** Something besides commits that may be why calls go another way from then on. */
export interface Happening {
  atMs: number;
  kind: 'rules' | 'engine' | 'deploy';
  /** What happened, in words. */
  text: string;
  /** What it is about, and how that was then: of engines, so that one is not told of twice. */
  about?: string;
  state?: string;
}

/** Changes of outbound rules, news of container engines and deployments, kept with what was recorded: they outlive the platform. */
export class Happenings {
  readonly #logs: RecordLogs;
  readonly #ring: RecordRing<Happening>;
  readonly #nowMs: () => number;
  /** Told that there is another one. */
  onNews: () => void = () => {};

  /** To be made before the logs are opened. */
  constructor(logs: RecordLogs, nowMs: () => number) {
    this.#logs = logs;
    this.#ring = logs.ring('happenings', (json) => json as Happening); // its checksum holds: it is as it was added
    this.#nowMs = nowMs;
  }

  /** Newest first. */
  since(fromMs: number): Happening[] {
    const asked = { limit: MAX_TOLD, fromMs, maxLooked: Number.POSITIVE_INFINITY, isWanted: () => true };
    return this.#ring.page(asked).items.map(({ item }) => item);
  }

  sawRules(before: readonly OutboundRule[], after: readonly OutboundRule[]): void {
    const [were, are] = [before, after].map((rules) => rules.filter(({ enabled }) => enabled).map(describeRule));
    for (const text of are ?? [])
      if (!were?.includes(text)) this.#note({ kind: 'rules', text: `outbound rule on: ${text}` });
    for (const text of were ?? [])
      if (!are?.includes(text)) this.#note({ kind: 'rules', text: `outbound rule off: ${text}` });
  }

  /** Told again and again how an engine is; only what is new about it counts, also since before the last start. */
  sawEngine({ address, state, reason }: { address: string; state: string; reason?: string }): void {
    const isOfIt = ({ item }: { item: Happening }) => item.kind === 'engine' && item.about === address;
    const [known] = this.#ring.page({ limit: 1, maxLooked: MAX_LOOKED, isWanted: isOfIt }).items;
    if (known?.item.state === state) return;
    const text = `container engine ${state}${reason === undefined ? '' : `: ${reason}`}`;
    this.#note({ kind: 'engine', text, about: address, state });
  }

  /** A pipeline has asked for a deployment. */
  sawDeployment({
    project,
    branch,
    deployment,
  }: {
    project: string;
    branch: string;
    deployment: PipelineDeployment;
  }): void {
    const { action = 'deploy', image, problem } = deployment;
    const what = action === 'stop' ? 'deployment stopped' : 'deployed';
    const which = `${project}, ${branch}${image === undefined ? '' : ` (${image})`}`;
    this.#note({
      kind: 'deploy',
      text: problem === undefined ? `${what}: ${which}` : `deployment failed: ${which}: ${problem}`,
    });
  }

  #note(what: Omit<Happening, 'atMs'>): void {
    const atMs = this.#nowMs();
    this.#ring.add({ atMs, key: '', group: '', mark: 0 }, JSON.stringify({ atMs, ...what }));
    this.#logs.changed();
    this.onNews();
  }
}
