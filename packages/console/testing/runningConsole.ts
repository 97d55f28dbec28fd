/** A chain, the service on it and a browser for its pages: what a file of tests starts once and ends once. */
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { startTestChain, type TestChain } from '../../server/endToEnd/testing/testChain.ts'
import { startTestService, type TestService } from '../../server/endToEnd/testing/testService.ts'
import { openBrowser } from './browser.ts'
import { type ConsolePage, openConsole } from './consolePage.ts'

export class RunningConsole {
  readonly chain: TestChain
  readonly #browser: Browser
  readonly #consoleFolder: string
  #service: TestService

  private constructor(chain: TestChain, browser: Browser, service: TestService, consoleFolder: string) {
    this.chain = chain
    this.#browser = browser
    this.#service = service
    this.#consoleFolder = consoleFolder
  }

  static async start(
    consoleFolder: string,
    plan?: Parameters<typeof startTestChain>[0],
  ): Promise<RunningConsole> {
    const chain = await startTestChain(plan)
    const [browser, service] = await Promise.all([
      openBrowser(),
      startTestService(chain, { consoleFolder, hasIncidents: true }),
    ])
    await service.untilTip(await chain.mine(4))
    return new RunningConsole(chain, browser, service, consoleFolder)
  }

  get service(): TestService {
    return this.#service
  }

  open(options?: BrowserContextOptions): Promise<ConsolePage> {
    return openConsole(this.#browser, this.#service.url, options)
  }

  /** The service ends, and after what happens meanwhile another is at its address. */
  async restart(meanwhile: () => Promise<void>): Promise<void> {
    const port = Number(new URL(this.#service.url).port)
    await this.#service.close()
    await meanwhile()
    this.#service = await startTestService(this.chain, { consoleFolder: this.#consoleFolder, port })
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.#service.close()
    await this.chain.close()
  }
}
