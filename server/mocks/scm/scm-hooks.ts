import { randomUUID } from 'node:crypto';
import { requestText, within } from '../../api/client/send-request.ts';
import { reasonOf } from '../../model/errors.ts';
import type { ScmHook, ScmHookEvent, ScmProject } from './scm-state.ts';

const TIMEOUT_MS = 10_000;
/** Deliveries that are open at a time, against webhooks that never respond. */
const MAX_OPEN = 50;
const KEPT_DELIVERIES = 20;
const KEPT_RESPONSE_CHARACTERS = 1_000;
const TITLES: Readonly<Record<ScmHookEvent, string>> = {
  push: 'Push Hook',
  tag_push: 'Tag Push Hook',
  merge_requests: 'Merge Request Hook',
  note: 'Note Hook',
  pipeline: 'Pipeline Hook',
  job: 'Job Hook',
  deployment: 'Deployment Hook',
};

/** A delivery as the API lists it. */
export interface HookDelivery {
  id: number;
  url: string;
  trigger: string;
  request_data: object;
  response_status: string;
  response_body: string;
  execution_duration: number;
}

/** Sends the events of projects to their webhooks. No caller waits for a delivery. */
export class ScmHooks {
  readonly #deliveries = new Map<string, HookDelivery[]>();
  readonly #stopped = new AbortController();
  readonly #instance: () => string;
  #openCount = 0;
  #lastId = 0;

  /** @param instance address of the mock */
  constructor(instance: () => string) {
    this.#instance = instance;
  }

  /** Sends an event to all webhooks of the project that asked for it. */
  send(project: ScmProject, event: ScmHookEvent, body: object): void {
    for (const hook of project.hooks ?? [])
      if (hook.events.includes(event)) void this.deliver(project, hook, event, body);
  }

  /** The newest first. */
  deliveries({ id }: ScmProject, hook: ScmHook): readonly HookDelivery[] {
    return this.#deliveries.get(`${id} ${hook.id}`) ?? [];
  }

  /** Resolves to what came of it; never rejects. */
  async deliver(project: ScmProject, hook: ScmHook, event: ScmHookEvent, body: object): Promise<HookDelivery> {
    const startedAtMs = performance.now();
    const result = await this.#post(hook, event, body);
    const delivery = {
      id: ++this.#lastId,
      url: hook.url,
      trigger: event,
      request_data: body,
      ...result,
      execution_duration: (performance.now() - startedAtMs) / 1_000,
    };
    this.#deliveries.set(
      `${project.id} ${hook.id}`,
      [delivery, ...this.deliveries(project, hook)].slice(0, KEPT_DELIVERIES),
    );
    return delivery;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #post({ url, token }: ScmHook, event: ScmHookEvent, body: object) {
    if (this.#openCount >= MAX_OPEN)
      return {
        response_status: 'internal error',
        response_body: `not sent: ${MAX_OPEN} deliveries wait for a response`,
      };
    this.#openCount += 1;
    try {
      const { status, text } = await requestText(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'User-Agent': 'GitLab/17.11.0',
          'X-Gitlab-Event': TITLES[event],
          'X-Gitlab-Event-UUID': randomUUID(),
          'X-Gitlab-Instance': this.#instance(),
          ...(token !== null && { 'X-Gitlab-Token': token }),
        },
        body: JSON.stringify(body),
        signal: this.#stopped.signal,
        limits: { ...within(TIMEOUT_MS), bytes: 1_000_000 },
      });
      return { response_status: String(status), response_body: text.slice(0, KEPT_RESPONSE_CHARACTERS) };
    } catch (failure) {
      return { response_status: 'internal error', response_body: reasonOf(failure) };
    } finally {
      this.#openCount -= 1;
    }
  }
}
