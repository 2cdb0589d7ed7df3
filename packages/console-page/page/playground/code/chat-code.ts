import type { ChatBody } from '../core/messages-of.ts'
import { aiSdkCode } from './ai-sdk-code.ts'
import { curlCode } from './curl-code.ts'
import { langChainCode } from './langchain-code.ts'
import { openAiJavaScriptCode, openAiPythonCode } from './openai-code.ts'
import type { ShownCode } from './shown-code.ts'

/** Code samples for a chat request. @param baseUrl gateway URL without `/v1` */
export function chatCode(baseUrl: string, body: ChatBody): ShownCode[] {
  const v1 = `${baseUrl.replace(/\/+$/, '')}/v1`
  return [
    { title: 'curl', install: null, text: curlCode(`${v1}/chat/completions`, body, { isStream: true }) },
    { title: 'openai for JavaScript', install: 'npm install openai', text: openAiJavaScriptCode(v1, body) },
    { title: 'openai for Python', install: 'pip install openai', text: openAiPythonCode(v1, body) },
    {
      title: 'Vercel AI SDK',
      install: 'npm install ai @ai-sdk/openai-compatible',
      text: aiSdkCode(v1, body),
    },
    { title: 'LangChain', install: 'npm install @langchain/openai @langchain/core', text: langChainCode(v1, body) },
  ]
}
