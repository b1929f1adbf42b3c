import type { ActivityKind } from '../../api/routes/recorded.ts';
import { describeRule, type OutboundRule } from '../../model/outbound-rule.ts';
import type { PipelineDeployment } from '../../model/pipeline-run.ts';
import type { RecordLog } from '../../storage/records/record-log.ts';
import type { RecordLogs } from '../../storage/records/record-logs.ts';

const MAX_REPORTED = 500;
/** Enough to find the last word about an engine among the news of others. */
const MAX_LOOKED = 2_000;

export interface ActivityEvent {
  atMs: number;
  kind: ActivityKind;
  /** Description of the event in words. */
  text: string;
  /** Subject and state of an engine event, to avoid duplicates. */
  about?: string;
  state?: string;
}

/** Changes of outbound rules, states of container engines, and deployments. They are stored with the records, so they survive a restart. */
export class ActivityLog {
  readonly #logs: RecordLogs;
  readonly #ring: RecordLog<ActivityEvent>;
  readonly #nowMs: () => number;
  readonly #onChange: () => void;

  /** To be made before the logs are opened. @param onChange called for each new event */
  constructor(logs: RecordLogs, nowMs: () => number, onChange: () => void = () => {}) {
    this.#onChange = onChange;
    this.#logs = logs;
    this.#ring = logs.ring('happenings', (json) => json as ActivityEvent); // its checksum is valid: it is as it was added
    this.#nowMs = nowMs;
  }

  /** Newest first. */
  since(fromMs: number): ActivityEvent[] {
    const query = { limit: MAX_REPORTED, fromMs, maxLooked: Number.POSITIVE_INFINITY, isWanted: () => true };
    return this.#ring.page(query).items.map(({ item }) => item);
  }

  sawRules(before: readonly OutboundRule[], after: readonly OutboundRule[]): void {
    const activeTexts = (rules: readonly OutboundRule[]) => rules.filter(({ enabled }) => enabled).map(describeRule);
    const [were, are] = [activeTexts(before), activeTexts(after)];
    for (const text of are) if (!were.includes(text)) this.#note({ kind: 'rules', text: `outbound rule on: ${text}` });
    for (const text of were) if (!are.includes(text)) this.#note({ kind: 'rules', text: `outbound rule off: ${text}` });
  }

  /** Called with the state of an engine; records only changes, also compared to before the last start. */
  sawEngine({ address, state, reason }: { address: string; state: string; reason?: string }): void {
    const isOfIt = ({ item }: { item: ActivityEvent }) => item.kind === 'engine' && item.about === address;
    const [lastEvent] = this.#ring.page({ limit: 1, maxLooked: MAX_LOOKED, isWanted: isOfIt }).items;
    if (lastEvent?.item.state === state) return;
    const text = `container engine ${state}${reason === undefined ? '' : `: ${reason}`}`;
    this.#note({ kind: 'engine', text, about: address, state });
  }

  sawDeployment(project: string, branch: string, { action, image, problem }: PipelineDeployment): void {
    const outcome = action === 'stop' ? 'deployment stopped' : 'deployed';
    const target = `${project}, ${branch}${image === undefined ? '' : ` (${image})`}`;
    const text = problem === undefined ? `${outcome}: ${target}` : `deployment failed: ${target}: ${problem}`;
    this.#note({ kind: 'deploy', text });
  }

  #note(event: Omit<ActivityEvent, 'atMs'>): void {
    const atMs = this.#nowMs();
    this.#ring.add({ atMs, key: '', group: '', mark: 0 }, JSON.stringify({ atMs, ...event }));
    this.#logs.changed();
    this.#onChange();
  }
}
