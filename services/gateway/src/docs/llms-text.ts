import type { GuideGroup } from './read-guides.ts'

/** `/llms.txt`: what this is, and every guide in the form that programs read best (llmstxt.org). */
export function llmsText(groups: GuideGroup[]): string {
  const chapters = groups.map(({ title, guides }) => {
    const items = guides.map((guide) => `- [${guide.title}](/docs/${guide.name}.md): ${guide.about}\n`)
    return `## ${title}\n\n${items.join('')}`
  })
  return [introduction, ...chapters].join('\n')
}

const introduction = `# Project-bound model gateway

> Hosted text models and private executable flows, called with a key that belongs for life to one project. Money is reserved before a
> call and settled exactly after it, from the project's wallet.

Chat completions are at \`POST /v1/chat/completions\`; clients that speak them work with \`/v1\` as their base address. What a refusal with
the code \`key_limit\` means is at \`/docs/refusals/key_limit.md\`, and so for each code.

- [OpenAPI](/openapi.json): every path and shape.
`
