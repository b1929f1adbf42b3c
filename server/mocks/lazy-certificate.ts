import { reasonOf } from '../model/errors.ts';
import { lazy } from '../system/lazy.ts';
import {
  type Certificate,
  type CertificateOptions,
  keepCertificate,
  keptCertificate,
  makeCertificate,
} from './certificate.ts';

/** Delay after the end of the start, so that creating the certificate does not slow down the first request. */
const MAKE_AFTER_MS = 100;

/**
 * Loads the certificate of the mocks without delaying the start: a saved one is read immediately, a new one is created on first use or
 * shortly after the start.
 */
export class LazyCertificate {
  readonly #options: CertificateOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #certificate: Certificate | undefined;
  #making: Promise<Certificate> | undefined;
  /** Rejects if no certificate can be created. One that cannot be saved is reported, and valid until the process ends. */
  readonly get = lazy(async () => {
    if (this.#certificate) return this.#certificate;
    this.#making = this.#make();
    return this.#making;
  });

  constructor(options: CertificateOptions) {
    this.#options = options;
  }

  /** Loads the saved certificate. Rejects as `keptCertificate` does. */
  async open(): Promise<void> {
    this.#certificate = await keptCertificate(this.#options);
  }

  makeSoon(): void {
    // Callers of `get` get the failure.
    this.#timer = setTimeout(() => void this.get().catch(() => {}), MAKE_AFTER_MS).unref();
  }

  /** Nothing is written after it resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#making?.catch(() => {});
  }

  async #make(): Promise<Certificate> {
    const newCertificate = await makeCertificate(this.#options.nowMs());
    if (this.#options.dir === undefined || this.#isStopped) return newCertificate;
    try {
      this.#options.check();
      await keepCertificate(this.#options.dir, newCertificate);
    } catch (failure) {
      this.#options.warn(
        `the certificate of the mock CRM cannot be saved, so the next start creates another one: ${reasonOf(failure)}`,
      );
    }
    return newCertificate;
  }
}
