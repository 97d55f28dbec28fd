/** Against `standardwebhooks`, the reference library. */
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { WebhookSecret } from '@assay/sdk/wire'
import { makeSecret, sign } from './signature.ts'

const NOW = Date.now

test('the reference library accepts every signature, with any body and id', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.uuid(), (text, id) => {
      const secret = makeSecret()
      const body = JSON.stringify({ text })
      const headers = sign([secret], `msg_${id}`, NOW(), body)
      expect(new Webhook(secret.reveal()).verify(body, headers)).toEqual({ text })
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      expect(headers['webhook-signature']).toBe(new Webhook(secret.reveal()).sign(`msg_${id}`, at, body))
    }),
  )
})

test('another body, id, time or secret is rejected', () => {
  const secret = makeSecret()
  const headers = sign([secret], 'msg_1', NOW(), '{}')
  const verify = (body: string, changed: object) => () =>
    new Webhook(secret.reveal()).verify(body, { ...headers, ...changed })
  expect(verify('{}', {})()).toEqual({})
  expect(verify('{ }', {})).toThrow()
  expect(verify('{}', { 'webhook-id': 'msg_2' })).toThrow()
  expect(verify('{}', { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) })).toThrow()
  expect(() => new Webhook(makeSecret().reveal()).verify('{}', headers)).toThrow()
})

test('while a secret is replaced, a receiver that knows either accepts the message', () => {
  const [next, before] = [makeSecret(), makeSecret()]
  const headers = sign([next, before], 'msg_1', NOW(), '{}')
  for (const secret of [next, before]) expect(new Webhook(secret.reveal()).verify('{}', headers)).toEqual({})
})

test('a secret has the form of the wire schema, is new each time and does not show itself', () => {
  const secrets = Array.from({ length: 50 }, makeSecret)
  const form = new RegExp(WebhookSecret['pattern'] as string)
  for (const secret of secrets) expect(secret.reveal()).toMatch(form)
  expect(new Set(secrets.map(secret => secret.reveal())).size).toBe(50)
  expect(String(secrets[0]) + JSON.stringify(secrets[0])).not.toContain('whsec_')
})
