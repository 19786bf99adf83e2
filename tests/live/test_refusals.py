# SPDX-License-Identifier: Apache-2.0
"""What nginx and HAProxy refuse, gyre refuses, on the same line; what they take, gyre takes, if only to say that
it can be no placement. Each case is a small file that differs from a good one in one thing."""
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import harness

GYRE = harness.GYRE
NGINX_MAIN = """pid {dir}/pid; events {{}}
http {{ access_log off; include {dir}/case.conf;
client_body_temp_path {dir}/t; proxy_temp_path {dir}/t; fastcgi_temp_path {dir}/t; uwsgi_temp_path {dir}/t; scgi_temp_path {dir}/t;
}}
"""
# Lines of an upstream that begins with `upstream u {` and ends with `server 1.1.1.9; }`.
NGINX_LINES = r"""
server 1.1.1.1 weight=3 max_fails=0 fail_timeout=1h30 max_conns=5 down;
server 1.1.1.1 weight=0;
server 1.1.1.1 weight=-1;
server 1.1.1.1 weight=1x;
server 1.1.1.1 weight=;
server 1.1.1.1 weight=99999999999999999999;
server 1.1.1.1 weight = 3;
server 1.1.1.1 max_fails=x;
server 1.1.1.1 fail_timeout=30ms;
server 1.1.1.1 fail_timeout=1s1m;
server 1.1.1.1 fail_timeout=1h1m1s;
server 1.1.1.1 "fail_timeout=1m 30s";
server 1.1.1.1 Down;
server 1.1.1.1 backup;
hash $uri; server 1.1.1.1 backup;
hash $uri consistent; server 1.1.1.1 down backup;
ip_hash; server 1.1.1.1 backup;
least_conn; server 1.1.1.1 backup;
random two; server 1.1.1.1 backup;
random two least_conn;
random three;
random two x;
random two two;
least_conn x;
server 1.1.1.1 backup; hash $uri;
hash $uri; hash $uri consistent;
hash "";
hash $;
hash ${uri;
hash "${uri}$arg_a" consistent;
hash $uri$ consistent;
hash $uri consistent x;
hash $uri Consistent;
hash;
server [::1]:80 weight=2;
server [::1];
server [::1;
server [::1]80;
server [::g]:80;
server ::1;
server unix:;
server unix:/x;
server UNIX:/x;
server http://1.1.1.1/;
server 1.1.1.1?a;
server 1.1.1.1:;
server :80;
server 1.1.1.1:0;
server 1.1.1.1:65536;
server 1.1.1.1:0080;
server 1.1.1.1:80a;
server;
server 1.1.1.1
server "1.1.1.1";
server "1.1.1.1"weight=1;
server '1.1.1.1' 'weight=2';
server "1.1.1.1;
server 1.1.1.1;;
server {}
servers 1.1.1.1;
keepalive 0;
keepalive 16; keepalive_timeout 60s; keepalive_requests 10;
keepalive;
zone z 64k;
include nothing*.conf;
include nothing.conf;
include a b;
{
# } {
server 1.1.1.1; # } {
server 1.1.1.1 "weight\=2";
server 1.1.1.1 "w\eight=2";
upstream v { server 1.1.1.1; }
""".strip().split("\n")
NGINX_FILES = [
    "upstream u { }",
    "upstream u { } server 1.1.1.1; }",
    "upstream u { server 1.1.1.1 backup; }",
    "upstream { server 1.1.1.1; }",
    "upstream u v { server 1.1.1.1; }",
    "upstream u;",
    "upstream u { server 1.1.1.1;",
    "upstream u{server 1.1.1.1;}",
    "upstream u { server 1.1.1.1; } }",
    "upstream u { server 1.1.1.1; }\nupstream u { server 1.1.1.1; }",
    "upstream 'a;b' { server 1.1.1.1; }",
    "upstream u { server 1.1.1.1; }\nserver { upstream v { server 1.1.1.1; } }",
    "upstream u\n{\n\tserver\n1.1.1.1\n;\n}\r\n",
    "map $uri $k { default ''; \"~a{2}\" '}'; }\nupstream u { hash $k; server 1.1.1.1; }",
]

# Lines of a backend that begins with `backend b` and ends with `server last 1.1.1.9:80`.
HAPROXY_LINES = r"""
mode http
mode htp
mode
balance
balance uri
balance uri whole
balance uri len 5 depth 2 whole path-only
balance uri len
balance uri len 0
balance uri depth x
balance uri foo
balance url_param
balance url_param x
balance url_param x check_post 5
balance url_param x y
balance hdr(x-key)
balance hdr(x) use_domain_only
balance hdr(x) y
balance hdr()
balance hdr
balance hdr_dom
balance hash
balance hash req.hdr(x),lower
balance random
balance random(2)
balance random(0)
balance random(x)
balance rdp-cookie
balance rdp-cookie(x)
balance rdp-cookie()
balance leastconn
balance first
balance static-rr
balance source
balance sourcex
balance Uri
balanc uri
hash-type
hash-type consistent
hash-type map-based sdbm
hash-type consistent wt6 avalanche
hash-type consistent avalanche
hash-type avalanche
hash-type consistent md5
hash-type consistent sdbm foo
hash-type map-based crc32 avalanche extra
hash-typ consistent
hash-balance-factor 150
hash-balance-factor 0
hash-balance-factor 100
hash-balance-factor
hash-balance-factor 150x
server s 1.1.1.1:80 weight 256
server s 1.1.1.1:80 weight 0
server s 1.1.1.1:80 weight 257
server s 1.1.1.1:80 weight -1
server s 1.1.1.1:80 weight 2x
server s 1.1.1.1:80 weight 1 weight 2
server s 1.1.1.1:80 id 7
server s 1.1.1.1:80 id 0
server s 1.1.1.1:80 id -3
server s 1.1.1.1:80 id x
server s 1.1.1.1:80 id 2147483648
server s 1.1.1.1:80 id
server s 1.1.1.1:80 backup disabled
server s 1.1.1.1:80 check inter 1s fall 3 rise 2 enabled
server s 1.1.1.1:80 check inter 1s fall
server s 1.1.1.1:80 wait 3
server s 1.1.1.1:80 wei"gh"t 300
server s 1.1.1.1:80 weight\ 5
server s 1.1.1.1:80 "weight 5"
server s 1.1.1.1:80 weight 300#x
server s 1.1.1.1:80 # weight 300
server s '1.1.1.1:80' weight 3
server s
server
server s:1 1.1.1.1:80
server s unix@/x
server s /tmp/x
server s abns@x
server s [::1]:80
server s ::1:80
server s ipv4@1.1.1.1:80
server s *:80
server s 1.1.1.1
server s 1.1.1.1:+80
server s 1.1.1.1:a
server s 1.1.1.1:80-90
server s 1.1.1.1:90000
server s 1.1.1.1:80 on-marked-down shutdown-sessions observe layer4 error-limit 3 on-error mark-down
server s 1.1.1.1:80 source 1.1.1.1 interface eth0 weight 300
server s 1.1.1.1:80 minconn 1 maxconn 5 maxqueue 6 slowstart 5s pool-max-conn 3 max-reuse 1
server-template s 3 1.1.1.1:80
server-template s 1-3 1.1.1.1:80 id 5
server-template s 3-3 1.1.1.1:80
server-template s 0 1.1.1.1:80
server-template s 3-1 1.1.1.1:80
server-template s 3-x 1.1.1.1:80
server-template s 1-3 1.1.1.1:80 weight 300
default-server weight 5
default-server backup
retries 3
option httpchk
""".strip().split("\n")
# Of which HAProxy does not tell where other lines are wrong.
HAPROXY_ALONE = [
    "server last 1.1.1.1:80",
    "server-template las 1-3 1.1.1.1:80",
    "server-template l 1-3 1.1.1.1:80",
    "default-server weight 300",
    "default-server id 3",
    "default-server inter 1s fall",
    "default-server foo",
]
HAPROXY_FILES = [
    "backend b\n server s \"1.1.1.1:80\n",
    "backend b\n server s '1.1.1.1:80\n",
    "backend b\nfrontend f\n server s 1.1.1.1:80\n",
    "backend b\nbackend\n server s 1.1.1.1:80\n",
    "backend b\nbackend c from x\n server s 1.1.1.1:80\n",
    "backend b\nbackend b\n server s 1.1.1.1:80\n",
    "backend b\ndefaults\n server s 1.1.1.1:80\n",
    "backend b\n server s 1.1.1.1:80\ndefaults x from y\n",
    "server s 1.1.1.1:80\n",
    "bckend b\n",
    "defaults\n server s 1.1.1.1:80\n",
    "defaults\n balance uri foo\n",
    "defaults\n mode http\n default-server weight 300\n",
    "defaults x\n mode http\ndefaults y from x\nbackend b from y\n balance uri\n server s 1.1.1.1:80\n",
    "backend b\n server s 1.1.1.1:80 id 3\n server t 1.1.1.1:80 id 3\n",
    "backend b\n server s 1.1.1.1:80\nlisten b\n bind 127.0.0.1:1\n server s 1.1.1.1:80\n",
    "backend b!\n server s 1.1.1.1:80\n",
    "backend \"a b\"\n server s 1.1.1.1:80\n",
    "backend b\r\n\tserver\ts\t1.1.1.1:80\tweight\t256\r\n",
    "backend b\n server s 1.1.1.1:80",
    "peers p\n peer a 1.1.1.1:1024\nbackend b\n server s 1.1.1.1:80\n",
    ".notice hello\nbackend b\n server s 1.1.1.1:80\n",
]


def haproxy_says(folder):
    """(taken, line of the first complaint, all it says); complaints are about lines."""
    done = subprocess.run(["haproxy", "-c", "-f", folder / "case.conf"], capture_output=True, text=True, timeout=60,
                          check=False)
    lines = [int(n) for n in re.findall(r"\[ALERT\].*\[\S*case.conf:(\d+)\]", done.stderr)]
    return "[ALERT]" not in done.stderr, min(lines, default=None), done.stderr


def haproxy_says_of_all(folder, lines):
    """The same for many lines at once, each in a backend of its own: HAProxy reads on behind an error."""
    texts = [f"backend b{i}\n{line}\nserver last 1.1.1.9:80\n" for i, line in enumerate(lines)]
    folder.mkdir()
    (folder / "case.conf").write_text("".join(texts))
    said = haproxy_says(folder)[2]
    wrong = {int(n) - 1 for n in re.findall(r"\[ALERT\].*\[\S*case.conf:(\d+)\]", said)}
    answers = []
    for i in range(len(lines)):
        at = [k + 1 for k in range(3) if 3 * i + k in wrong]
        answers.append((not at, at[0] if at else None, said if at else ""))
    return answers


def nginx_says(folder):
    main = folder / "main.conf"
    main.write_text(NGINX_MAIN.format(dir=folder))
    done = subprocess.run(["nginx", "-t", "-p", folder, "-e", folder / "log", "-c", main], capture_output=True,
                          text=True, timeout=60, check=False)
    at = re.search(r"\[emerg\].* in \S*case.conf:(\d+)", done.stderr)
    return done.returncode == 0, int(at[1]) if at else None, done.stderr


def gyre_says(folder, name):
    done = subprocess.run([GYRE, "show", "--format", name, folder / "case.conf"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode in (0, 2), done.stderr
    at = re.search(r"case.conf:(\d+):", done.stderr) if done.returncode else None
    return done.returncode == 0, int(at[1]) if at else None, done.stderr


def differences(folder, name, cases):
    """Cases, each a text and what the system says of it, about which gyre does not say the same."""
    def compare(numbered):
        i, (text, they) = numbered
        here = folder / f"{name}-{i}"
        here.mkdir()
        (here / "case.conf").write_text(text)
        theirs, ours = they(here), gyre_says(here, name)
        same = theirs[0] == ours[0] and (theirs[0] or theirs[1] is None or theirs[1] == ours[1])
        return theirs[0], None if same else f"{text!r}\n{name}: {theirs}\ngyre: {ours}"

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(compare, enumerate(cases)))
    taken = sum(good for good, _ in found)
    assert 5 <= taken <= len(found) - 5, "the cases tell nothing apart"
    return [text for _, text in found if text]


def test_nginx(farm):
    cases = [f"upstream u {{\n{line}\nserver 1.1.1.9; }}\n" for line in NGINX_LINES] + NGINX_FILES
    wrong = differences(farm.dir, "nginx", [(text, nginx_says) for text in cases])
    assert not wrong, "\n\n".join(wrong)


def test_haproxy(farm):
    said = haproxy_says_of_all(farm.dir / "all", HAPROXY_LINES)
    cases = [(f"backend b\n{line}\nserver last 1.1.1.9:80\n", lambda _, answer=answer: answer)
             for line, answer in zip(HAPROXY_LINES, said)]
    alone = [f"backend b\n{line}\nserver last 1.1.1.9:80\n" for line in HAPROXY_ALONE] + HAPROXY_FILES
    wrong = differences(farm.dir, "haproxy", cases + [(text, haproxy_says) for text in alone])
    assert not wrong, "\n\n".join(wrong)
