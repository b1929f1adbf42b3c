import { lazy } from '../machine/lazy.ts';
import { reasonOf } from '../model/reason.ts';
import {
  type Certificate,
  type CertificateOptions,
  keepCertificate,
  keptCertificate,
  makeCertificate,
} from './certificate.ts';

/** From the end of the start: the first request is not to compete with the making of it. */
const MAKE_AFTER_MS = 100;

/**
 * The certificate of the local stand-ins as a start has it: the one that is kept is read at once, a new one is made when it is first
 * asked for or a moment after the start, of which it would be a tenth.
 */
export class LateCertificate {
  readonly #options: CertificateOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #kept: Certificate | undefined;
  #making: Promise<Certificate> | undefined;
  /** Rejects when none can be made. One that cannot be kept is told of, and good for as long as the process lives. */
  readonly get = lazy(async () => {
    if (this.#kept) return this.#kept;
    this.#making = this.#make();
    return this.#making;
  });

  constructor(options: CertificateOptions) {
    this.#options = options;
  }

  /** Looks for the one that is kept. Rejects as `keptCertificate`. */
  async open(): Promise<void> {
    this.#kept = await keptCertificate(this.#options);
  }

  makeSoon(): void {
    // Whoever asks for it hears of a failure.
    this.#timer = setTimeout(() => void this.get().catch(() => {}), MAKE_AFTER_MS).unref();
  }

  /** Nothing is written any more when it resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#making?.catch(() => {});
  }

  async #make(): Promise<Certificate> {
    const made = await makeCertificate(this.#options.nowMs());
    if (this.#options.dir === undefined || this.#isStopped) return made;
    try {
      this.#options.check();
      await keepCertificate(this.#options.dir, made);
    } catch (failure) {
      this.#options.warn(
        `the certificate of the CRM stand-in cannot be kept, and the next start makes another: ${reasonOf(failure)}`,
      );
    }
    return made;
  }
}
