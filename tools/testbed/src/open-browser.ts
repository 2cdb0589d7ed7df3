import { chromium, type Browser } from 'playwright-core'
import { findChromium } from './chromium-binary.ts'

export type { Page } from 'playwright-core'

/** A Chromium without a screen; anyone who opens it closes it. */
export async function openBrowser(): Promise<Browser> {
  // The sandbox of Chromium is not for root; what is shown here is our own.
  return chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] })
}
