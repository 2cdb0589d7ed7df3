import { chromium, type Browser } from 'playwright-core'
import { findChromium } from './find-program.ts'

export type { Page } from 'playwright-core'

/** Opens a headless Chromium, which the caller closes. */
export async function openBrowser(): Promise<Browser> {
  // Chromium's sandbox does not work for root; the pages shown here are our own.
  return chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] })
}
