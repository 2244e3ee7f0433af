#!/usr/bin/env python3
"""A local stand-in for an OpenAI-compatible and an Anthropic-compatible chat server (loopback only).
PORT 0 takes a free one; the port is printed on the first line. Replies deterministically: echoes the last user text; if the text contains 'use-tool', asks for one bash call first."""
import json,sys,time
from http.server import BaseHTTPRequestHandler,ThreadingHTTPServer
LOG=open(sys.argv[2],'a') if len(sys.argv)>2 else None
def text_of(c):
    if isinstance(c,str): return c
    return ''.join(b.get('text','') for b in c if isinstance(b,dict) and b.get('type') in('text','input_text'))
class H(BaseHTTPRequestHandler):
    protocol_version='HTTP/1.1'
    def log_message(self,*a): pass
    def do_GET(self):
        b=json.dumps({"object":"list","data":[{"id":"mock-1","object":"model"}]}).encode()
        self.send_response(200); self.send_header('content-type','application/json'); self.send_header('content-length',str(len(b))); self.end_headers(); self.wfile.write(b)
    def do_POST(self):
        n=int(self.headers.get('content-length',0)); body=json.loads(self.rfile.read(n))
        if LOG: LOG.write(json.dumps({"path":self.path,"headers":{k:v for k,v in self.headers.items()},"body":body})+'\n'); LOG.flush()
        msgs=body.get('messages',[])
        last=[m for m in msgs if m.get('role')=='user'][-1] if any(m.get('role')=='user' for m in msgs) else {"content":""}
        lt=text_of(last.get('content',''))
        tool=('use-tool' in lt) and msgs[-1].get('role')=='user' and bool(body.get('tools'))
        reply=f"mock reply to {len(msgs)} messages: {lt[:60]}"
        if self.path.endswith('/chat/completions'): self.openai(body,reply,tool)
        elif self.path.endswith('/messages'): self.anthropic(body,reply,tool)
        else: self.send_error(404)
    def sse(self,evs):
        self.send_response(200); self.send_header('content-type','text/event-stream'); self.send_header('transfer-encoding','chunked'); self.end_headers()
        for ev in evs:
            b=ev.encode(); self.wfile.write(b'%x\r\n'%len(b)+b+b'\r\n')
        self.wfile.write(b'0\r\n\r\n')
    def openai(self,body,reply,tool):
        base={"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":body.get('model')}
        usage={"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}
        if not body.get('stream'):
            b=json.dumps({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":body.get('model'),"choices":[{"index":0,"message":{"role":"assistant","content":reply},"finish_reason":"stop"}],"usage":usage}).encode()
            self.send_response(200); self.send_header('content-type','application/json'); self.send_header('content-length',str(len(b))); self.end_headers(); self.wfile.write(b); return
        ch=[]
        if tool:
            ch.append({"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"bash","arguments":json.dumps({"command":"echo tool-ran"})}}]},"finish_reason":None})
            ch.append({"delta":{},"finish_reason":"tool_calls"})
        else:
            for w in reply.split(' '): ch.append({"delta":{"content":w+' '},"finish_reason":None})
            ch.append({"delta":{},"finish_reason":"stop"})
        evs=[f"data: {json.dumps({**base,'choices':[{'index':0,**c}]})}\n\n" for c in ch]
        evs.append(f"data: {json.dumps({**base,'choices':[],'usage':usage})}\n\n"); evs.append("data: [DONE]\n\n")
        self.sse(evs)
    def anthropic(self,body,reply,tool):
        evs=[]
        def ev(t,o): evs.append(f"event: {t}\ndata: {json.dumps({'type':t,**o})}\n\n")
        ev('message_start',{"message":{"id":"msg_1","type":"message","role":"assistant","model":body.get('model'),"content":[],"stop_reason":None,"stop_sequence":None,"usage":{"input_tokens":11,"output_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}})
        ev('content_block_start',{"index":0,"content_block":{"type":"text","text":""}})
        for w in reply.split(' '): ev('content_block_delta',{"index":0,"delta":{"type":"text_delta","text":w+' '}})
        ev('content_block_stop',{"index":0})
        ev('message_delta',{"delta":{"stop_reason":"end_turn","stop_sequence":None},"usage":{"output_tokens":7}})
        ev('message_stop',{})
        self.sse(evs)
class Server(ThreadingHTTPServer):
    def handle_error(self,*a): pass  # a client that ends leaves its connection open
SERVER=Server(('127.0.0.1',int(sys.argv[1])),H)
print(SERVER.server_address[1],flush=True)
SERVER.serve_forever()
