# Postfix itself, with the configuration of docs/postfix.md: on loopback, on ports that are free, with its
# queue and all other files in the scratch folder.
# Label: once all
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/programs.bash"

needs postmap postconf python3
printf 'bad@corp.example\nevil.example\n192.0.2.0/24\n' > bad.txt
holds unseen add -p none bad bad.txt
printf 'Bad@corp.example\n@evil.example\n' > senders.txt
printf '192.0.2.0/24\n' > clients.txt
holds run_docs postfix.md 1
mkdir etc data queue
printf 'compatibility_level = 3.6\nqueue_directory = %s\ndata_directory = %s\n' "$scratch/queue" \
    "$scratch/data" > etc/main.cf

# ---- Tables ---------------------------------------------------------------------------------------
# query TABLE KEY: what postmap says of it.
query() {
    last="postmap -q $2 $1"
    postmap -c "$scratch/etc" -q "$2" "$1" > out 2> err
    status=$?
}
# check_table TABLE
check_table() {
    for key in bad@corp.example any@evil.example any@a.b.evil.example a.evil.example evil.example 192.0.2.55; do
        query "$1" "$key"
        expect 0 'REJECT listed 100%%\n' '*'
    done
    for key in good@corp.example any@notevil.example example 192.0.3.55 'with space@good.example' ''; do
        query "$1" "$key"
        expect 1 '' '*'
    done
    # Many keys over one connection.
    seq 1 5000 | awk '{ print "a" $1 "@" ($1 % 2 ? "good" : "evil") ".example" }' > keys
    postmap -c "$scratch/etc" -q - "$1" < keys > out 2> err
    holds [ "$(wc -l < out)" = 2500 ]
    holds [ "$(grep -c '@evil.example.REJECT listed 100%' out)" = 2500 ]
}
listening serve --protocol socketmap --reply 'REJECT listed 100%' --listen 0 bad
check_table "socketmap:inet:127.0.0.1:$port:senders"
stop_listening
listening serve --protocol socketmap --reply 'REJECT listed 100%' --listen unix:socket bad
check_table "socketmap:unix:$scratch/socket:any"
stop_listening
listening serve --protocol tcp-table --reply 'REJECT listed 100%' --listen 0 bad
check_table "tcp:127.0.0.1:$port"
stop_listening

# Lists: what is listed, what is not, and what is allowed while the table is served.
holds_key() { [ "$(postmap -c "$scratch/etc" -q "$2" "$1" 2> err)" = 'REJECT listed' ]; }
lacks_key() { ! holds_key "$@"; }
check_list() {
    for key in bad@corp.example any@evil.example any@a.b.Evil.example evil.example; do
        holds holds_key "$1" "$key"
    done
    for key in good@corp.example any@notevil.example 192.0.2.55 'with space@good.example'; do
        holds lacks_key "$1" "$key"
    done
    echo any@evil.example > friends.txt
    holds run_docs postfix.md 2
    eventually lacks_key "$1" any@evil.example
    holds holds_key "$1" other@evil.example
    holds unseen allow --remove senders.list friends.txt
    eventually holds_key "$1" any@evil.example
}
listening serve --protocol socketmap --listen 0 senders.list
check_list "socketmap:inet:127.0.0.1:$port:senders"
stop_listening
listening serve --protocol tcp-table --listen 0 senders.list
check_list "tcp:127.0.0.1:$port"
stop_listening

# ---- The mail server ------------------------------------------------------------------------------
if [ "$(id -u)" != 0 ] || ! command -v setsid > /dev/null; then
    skip 'only root can start Postfix'
    finish
fi
chmod 755 . etc queue
for folder in active bounce corrupt defer deferred flush hold incoming private saved trace maildrop public pid; do
    mkdir "queue/$folder"
    [ "$folder" = pid ] || chown postfix "queue/$folder"
done
chown postfix data

# start_postfix N FROM: with the N-th piece of configuration, in which port FROM is $port.
start_postfix() {
    local asked=$port
    free_port
    smtp=$port
    cat > etc/master.cf << END
127.0.0.1:$smtp inet n - n - - smtpd
rewrite unix - - n - - trivial-rewrite
cleanup unix n - n - 0 cleanup
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
END
    {
        cat << END
compatibility_level = 3.6
queue_directory = $scratch/queue
data_directory = $scratch/data
maillog_file = $scratch/maillog
maillog_file_prefixes = $scratch
myhostname = mail.test.example
mydestination = test.example
mynetworks =
local_recipient_maps =
smtpd_tls_security_level = none
smtpd_authorized_xclient_hosts = 127.0.0.1
END
        from_docs postfix.md "$1" | sed -e 's/^    //' -e "s/$2/$asked/"
        echo "${more-}"
    } > etc/main.cf
    holds grep -q "127.0.0.1:$asked" etc/main.cf
    program setsid master -c "$scratch/etc" -d
    eventually answers "$smtp" || cat setsid.out maillog >&2
}

# The answers to RCPT of mail from some senders and clients.
cat > mail.py << 'END'
import smtplib, sys
for mail in sys.argv[2:]:
    sender, _, client = mail.partition(" ")
    smtp = smtplib.SMTP("127.0.0.1", int(sys.argv[1]), timeout=30)
    smtp.docmd("XCLIENT", "NAME=[UNAVAILABLE] ADDR=" + (client or "203.0.113.5"))
    smtp.ehlo("client.example")
    code, text = smtp.mail(sender)
    if code == 250:
        code, text = smtp.rcpt("jo@test.example")
    print(code, "listed" if b"listed" in text else "")
    smtp.quit()
END
check_senders() {
    python3 mail.py "$smtp" bad@corp.example good@corp.example any@Sub.Evil.Example any@good.example > out
    holds [ "$(cat out)" = "$(printf '554 listed\n250 \n554 listed\n250 ')" ]
}
check_clients() {
    python3 mail.py "$smtp" 'any@good.example 192.0.2.17' 'any@good.example 192.0.3.17' > out
    holds [ "$(cat out)" = "$(printf '554 listed\n250 ')" ]
}

# judged ANSWER MAIL: whether mail is answered so by now.
judged() {
    [ "$(python3 mail.py "$smtp" "$2")" = "$1" ]
}

# ---- A list of senders, one of clients ------------------------------------------------------------
listening serve --protocol postfix-policy --listen 0 senders.list
start_postfix 1 9998
check_senders
holds judged '250 ' 'any@good.example 192.0.2.17'
# What is allowed is let through, over the connection that Postfix keeps.
echo jo@evil.example > friends.txt
holds run_docs postfix.md 2
eventually judged '250 ' jo@evil.example
holds judged '554 listed' other@evil.example
# Another list in its place is obeyed.
echo good.example > senders_now.txt
holds unseen build --from senders.list senders.list senders_now.txt 2> build_err
eventually judged '554 listed' any@good.example
holds judged '250 ' other@evil.example
stop_program
stop_listening

listening serve --protocol postfix-policy --listen 0 clients.list
start_postfix 1 9998
check_clients
echo 192.0.2.17 | unseen allow clients.list
eventually judged '250 ' 'any@good.example 192.0.2.17'
holds judged '554 listed' 'any@good.example 192.0.2.18'
stop_program
stop_listening
echo 192.0.2.17 | unseen allow --remove clients.list

holds run_docs postfix.md 1 2> build_err
listening serve --protocol socketmap --listen 0 senders.list
start_postfix 2 9999
check_senders
echo bad@corp.example > friends.txt
holds run_docs postfix.md 2
eventually judged '250 ' bad@corp.example
stop_program
stop_listening

listening serve --protocol tcp-table --listen 0 clients.list
start_postfix 3 9997
check_clients
stop_program
stop_listening

# ---- Attacks --------------------------------------------------------------------------------------
# Senders as clients may write them. Whatever Postfix takes, its log has the sender that it makes of it.
cat > attacks.py << 'END'
import re, socket, sys

FORMS = r"""<jo@evil.example>|<JO@EVIL.EXAMPLE>|<jo@evil.example.>|<jo@evil.example..>|<jo@sub.evil.example>|<jo+tag@evil.example>
<@relay.example:jo@evil.example>|<@a.example,@b.example:jo@evil.example>|<@evil.example:jo@good.example>|<"jo"@evil.example>
<"j o"@evil.example>|<"j\"o"@evil.example>|<j\o@evil.example>|<"jo@good.example"@evil.example>|<"jo@evil.example"@good.example>
<jo@good.example@evil.example>|<jo@evil.example@good.example>|<jo(x)@evil.example>|<jo@(x)evil.example>|<jo@evil.example(x)>
<jo @ evil.example>|< jo@evil.example >|<jo@ evil.example>|<jo@evil .example>|jo@evil.example|Jo <jo@evil.example>|<Jo <jo@evil.example>>
<<jo@evil.example>>|<jo@evil.example> <jo@good.example>|<jo@good.example> <jo@evil.example>|<jo@evil.example>,<jo@good.example>
<jo@good.example,jo@evil.example>|<jo%evil.example@test.example>|<evil.example!jo>|<evil.example!jo@test.example>|<jo@evil%2eexample>
<jo@evil\x2eexample>|<jo@evil\x00.example>|<jo@evil.example\x00>|<jo@evil.example\x00.good.example>|<jo@evil.example\x09>|<\x09jo@evil.example>
<jo@\xef\xbd\x85vil.example>|<jo@evil\xe3\x80\x82example>|<\xc3\xb6@evil.example>|<jo@[192.0.2.7]>|<jo@[IPv6:2001:db8::7]>|<>|<jo>|<jo@>|<@evil.example>
<mailto:jo@evil.example>|<jo@evil.example;x>|<group:jo@evil.example;>|<=?utf-8?q?jo?=@evil.example>|<jo@EviL.exAMPLE>|<.@evil.example>|<jo.@evil.example>"""
forms = [re.sub(rb"\\x(..)", lambda m: bytes([int(m[1], 16)]), f.encode()) for f in re.split(r"[|\n]", FORMS)]
forms.append(b"<" + b"j" * 300 + b"@evil.example>")
forms.append(b"<jo@" + b"x." * 120 + b"evil.example>")
forms += [form + b" SMTPUTF8" for form in forms]

def say(s, line, f):
    s.sendall(line + b"\r\n")
    while (answer := f.readline())[3:4] == b"-":
        pass
    return answer

nlisted = naccepted = 0
for form in forms:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30) as s:
        f = s.makefile("rb")
        f.readline()
        say(s, b"EHLO client.example", f)
        say(s, b"XCLIENT NAME=[UNAVAILABLE] ADDR=203.0.113.5", f)
        say(s, b"EHLO client.example", f)
        if say(s, b"MAIL FROM:" + form, f)[:3] == b"250":
            answer = say(s, b"RCPT TO:<jo@test.example>", f)
            nlisted += b"listed" in answer
            if answer[:3] == b"250":
                naccepted += 1
                say(s, b"DATA", f)
                say(s, b".", f)
        say(s, b"RSET", f)
        say(s, b"QUIT", f)
print(nlisted, naccepted)
END
printf 'evil.example\njo@[192.0.2.7]\n' | unseen build --kind mail --fpr 1e-6 --force senders.list 2> build_err
listening serve --protocol postfix-policy --listen 0 senders.list
more='smtpd_data_restrictions = check_sender_access static:WARN' # which has the sender in the log
start_postfix 1 9998
holds python3 attacks.py "$smtp" > counts
cat counts >&2
more=
sed -n 's/.*: warn: DATA .* from=<\(.*\)> to=<.*/\1/p' maillog > accepted
holds [ "$(wc -l < accepted)" = "$(cut -d' ' -f2 counts)" ]
holds [ "$(cut -d' ' -f1 counts)" -ge 20 ]
holds grep -q . accepted
grep -iE '[@.]evil\.example\.*$|@\[192\.0\.2\.7\]$' accepted > passed
holds [ ! -s passed ]
cat passed >&2
stop_program
stop_listening

# ---- A store with both ----------------------------------------------------------------------------
listening serve --protocol postfix-policy --listen 0 bad
start_postfix 1 9998
check_senders
check_clients
# A list put in its place is obeyed, over the connection that Postfix keeps.
printf 'good.example\n' | unseen add -p none new
mv new bad
eventually judged '554 listed' any@good.example
stop_program
stop_listening

unseen add -p none new bad.txt
mv new bad
listening serve --protocol socketmap --listen 0 bad
start_postfix 2 9999
check_senders
stop_program
stop_listening

listening serve --protocol tcp-table --listen 0 bad
start_postfix 3 9997
check_clients
stop_program
stop_listening
finish
