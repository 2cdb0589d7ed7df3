import type { DocsPage } from './docs-page.ts'
import type { GuideGroup } from './read-guides.ts'

/** `/docs`: every guide with what it is about. */
export function homePage(groups: GuideGroup[]): DocsPage {
  const chapters = groups.map(({ title, guides }) => {
    const items = guides.map((guide) => `- [${guide.title}](/docs/${guide.name}): ${guide.about}\n`)
    return `## ${title}\n\n${items.join('')}`
  })
  return { address: '/docs', title: 'Documentation', markdown: [introduction, ...chapters].join('\n') }
}

const introduction = `# Documentation

Hosted text models and private executable flows, called with a key that belongs for life to one project. Money is reserved before a
call and settled exactly after it, from the project's wallet.

Every path and shape is in the [API reference](/docs/api), and for programs at [/openapi.json](/openapi.json).
`
